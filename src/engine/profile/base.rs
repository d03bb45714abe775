//! The compiled-in profiles: shapes of fabrics, without a cluster's names.

/// Name and YAML text of each base, in the order they are documented.
pub const BASES: &[(&str, &str)] = &[
    ("roce-sriov", include_str!("../../../policies/roce-sriov.yaml")),
    ("roce-host-device", include_str!("../../../policies/roce-host-device.yaml")),
    ("roce-macvlan", include_str!("../../../policies/roce-macvlan.yaml")),
    ("infiniband-sriov", include_str!("../../../policies/infiniband-sriov.yaml")),
    ("infiniband-ipoib", include_str!("../../../policies/infiniband-ipoib.yaml")),
    ("ethernet-tcp", include_str!("../../../policies/ethernet-tcp.yaml")),
    ("aws-efa", include_str!("../../../policies/aws-efa.yaml")),
    ("azure-nd", include_str!("../../../policies/azure-nd.yaml")),
    ("gke-rdma", include_str!("../../../policies/gke-rdma.yaml")),
    ("gke-tcpx", include_str!("../../../policies/gke-tcpx.yaml")),
    ("gke-tcpxo", include_str!("../../../policies/gke-tcpxo.yaml")),
    ("nri-compat", include_str!("../../../policies/nri-compat.yaml")),
];
