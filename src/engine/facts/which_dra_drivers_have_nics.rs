//! The devices of a DRA driver, by its name: accelerators, NICs, or devices unrelated to a fabric.

use std::fmt;

/// Drivers of NICs and the classes that carry their names: kubernetes-sigs/dranet (`dra.net`; classes `dranet`,
/// `dranet.net`, `efa.networking.k8s.aws`, `erdma.alibaba.dra.net`), GKE's managed DRANET (`mrdma.google.com` for GPUs,
/// `netdev.google.com` for TPUs), NVIDIA's (`rdma.nvidia.com`), and k8snetworkplumbingwg/dra-driver-sriov.
const NIC_DRIVERS: [&str; 9] = [
    "dra.net",
    "*.dra.net",
    "dranet",
    "dranet.net",
    "mrdma.google.com",
    "netdev.google.com",
    "efa.networking.k8s.aws",
    "rdma.nvidia.com",
    super::device_class::SRIOV_DRIVER,
];

/// Drivers whose claims never change a plan: accelerators (NVIDIA/k8s-dra-driver-gpu, ROCm/k8s-gpu-dra-driver,
/// Intel's, AWS' for Neuron, Google's), NVIDIA's compute domains, which every GB200 gang has,
/// kubernetes-sigs/dra-driver-cpu and dra-driver-memory, and storage.
const DRIVERS_WITHOUT_NICS: [&str; 18] = [
    "gpu.nvidia.com",
    "*.gpu.nvidia.com",
    "mig.nvidia.com",
    "gpu.amd.com",
    "gpu.intel.com",
    "gaudi.intel.com",
    "neuron.aws.com",
    "tpu.google.com",
    "compute-domain.nvidia.com",
    "compute-domain-*.nvidia.com",
    "dra.cpu",
    "dra.memory",
    "dra.hugepages",
    "nvme.*",
    "storage.*",
    "*.storage.*",
    "csi.*",
    "*.csi.*",
];

/// The effect of a claim on a driver's devices on the fabric of a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DriverKind {
    /// The devices are NICs: the pod gets its fabric from the claim.
    Nic,
    /// The devices are accelerators, CPUs, memory or storage.
    Harmless,
    /// The devices are not classified.
    Unknown,
}

/// DRA drivers that a cluster's settings list as not providing NICs, beside the known ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DriversWithoutNics(Vec<DriverPattern>);

impl DriversWithoutNics {
    /// Patterns of a cluster's settings.
    #[must_use]
    pub fn new(patterns: Vec<DriverPattern>) -> Self {
        Self(patterns)
    }

    /// The devices of a driver, by its name, or by the name of a class if the driver is not known.
    #[must_use]
    pub fn kind_of_driver(&self, driver: &str) -> DriverKind {
        if NIC_DRIVERS.iter().any(|pattern| matches(pattern, driver)) {
            return DriverKind::Nic;
        }
        let known = DRIVERS_WITHOUT_NICS.iter().any(|pattern| matches(pattern, driver));
        match known || self.0.iter().any(|pattern| matches(&pattern.0, driver)) {
            true => DriverKind::Harmless,
            false => DriverKind::Unknown,
        }
    }
}

/// Name of a DRA driver or DeviceClass; `*` matches any text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriverPattern(String);

impl DriverPattern {
    /// Reads a name of lower-case letters, digits, `-`, `.` and `*`, of 1 to 253 characters.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let valid = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.' | b'*');
        let fits = (1..=253).contains(&text.len()) && text.bytes().all(valid);
        fits.then(|| Self(text.to_owned()))
    }
}

impl fmt::Display for DriverPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a name matches a pattern in which `*` matches any text, the empty one included.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, parts)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut parts = parts.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name, expected) in [
            ("dra.net", "dra.net", true),
            ("dra.net", "dra.net.example", false),
            ("*.dra.net", "erdma.alibaba.dra.net", true),
            ("*.dra.net", "dra.net", false),
            ("compute-domain-*.nvidia.com", "compute-domain-default-channel.nvidia.com", true),
            ("compute-domain-*.nvidia.com", "compute-domain.nvidia.com", false),
            ("*.csi.*", "block.csi.example.com", true),
            ("a*b*a", "aba", true),
            ("a*a", "a", false),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn known_drivers_and_those_of_the_settings() {
        let drivers = DriversWithoutNics::new(vec![DriverPattern::parse("fpga.example.com").unwrap()]);
        for (name, kind) in [
            ("mrdma.google.com", DriverKind::Nic),
            ("sriovnetwork.k8snetworkplumbingwg.io", DriverKind::Nic),
            ("compute-domain-daemon.nvidia.com", DriverKind::Harmless),
            ("vfio.gpu.nvidia.com", DriverKind::Harmless),
            ("fpga.example.com", DriverKind::Harmless),
            ("fabric.example.com", DriverKind::Unknown),
        ] {
            assert_eq!(drivers.kind_of_driver(name), kind, "{name}");
        }
        assert!(DriverPattern::parse("A b").is_none() && DriverPattern::parse("").is_none());
    }
}
