//! What the name of a transport stands for. Plugins bring names of their own, so "IB" is not the only good one.

/// Kind of a transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// RDMA verbs, or a plugin for them.
    Rdma,
    /// The plugin of a cloud's own fabric: EFA, GPUDirect-TCPX, GPUDirect-TCPXO.
    Cloud,
    /// TCP sockets.
    Tcp,
    /// A plugin that is not known.
    Unknown,
}

/// Names, or how they begin, with the plugin that has them. Sources: NVIDIA/nccl (IB, Socket),
/// Mellanox/nccl-rdma-sharp-plugins (`IBext_v6` to `_v11`, `UCX`), aws/aws-ofi-nccl (`Libfabric`, before `AWS Libfabric`),
/// google/nccl-fastsocket, google/nccl-plugin-gpudirect-tcpxo (`FasTrak`), GKE (`GPUDirectTCPX_v7`, `gIB`), ROCm/amd-anp.
const NAMES: [(&str, Transport); 11] = [
    ("IB", Transport::Rdma),
    ("IBext", Transport::Rdma),
    ("gIB", Transport::Rdma),
    ("UCX", Transport::Rdma),
    ("ANP", Transport::Rdma),
    ("Libfabric", Transport::Cloud),
    ("AWS Libfabric", Transport::Cloud),
    ("FasTrak", Transport::Cloud),
    ("GPUDirectTCPX", Transport::Cloud),
    ("FastSocket", Transport::Tcp),
    ("Socket", Transport::Tcp),
];

/// The kind of a transport by its name in the log.
#[must_use]
pub fn transport(name: &str) -> Transport {
    let plain = name.split_once("_v").map_or(name, |(plain, _)| plain);
    let found = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(plain));
    found.map_or(Transport::Unknown, |(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_a_plugin_are_one_transport() {
        for (name, kind) in [
            ("IB", Transport::Rdma),
            ("IBext_v8", Transport::Rdma),
            ("IBext_v11", Transport::Rdma),
            ("gIB", Transport::Rdma),
            ("Libfabric", Transport::Cloud),
            ("AWS Libfabric", Transport::Cloud),
            ("FasTrak", Transport::Cloud),
            ("GPUDirectTCPX_v7", Transport::Cloud),
            ("Socket", Transport::Tcp),
            ("FastSocket", Transport::Tcp),
            ("Sockets", Transport::Unknown),
        ] {
            assert_eq!(transport(name), kind, "{name}");
        }
    }
}
