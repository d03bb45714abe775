//! The compiled-in profiles: shapes of fabrics, without a cluster's names.

/// Name and YAML text of each base, in the order they are documented.
pub const BASES: &[(&str, &str)] = &[
    ("roce-sriov", include_str!("../../../policies/roce-sriov.yaml")),
    ("roce-host-device", include_str!("../../../policies/roce-host-device.yaml")),
    ("roce-macvlan", include_str!("../../../policies/roce-macvlan.yaml")),
    ("infiniband-sriov", include_str!("../../../policies/infiniband-sriov.yaml")),
    ("infiniband-ipoib", include_str!("../../../policies/infiniband-ipoib.yaml")),
    ("ethernet-tcp", include_str!("../../../policies/ethernet-tcp.yaml")),
    ("oke-vf-16", include_str!("../../../policies/oke-vf-16.yaml")),
    ("oke-vf-8", include_str!("../../../policies/oke-vf-8.yaml")),
    ("amd-host-device", include_str!("../../../policies/amd-host-device.yaml")),
    ("coreweave-infiniband", include_str!("../../../policies/coreweave-infiniband.yaml")),
    ("coreweave-roce", include_str!("../../../policies/coreweave-roce.yaml")),
    ("nebius-infiniband", include_str!("../../../policies/nebius-infiniband.yaml")),
    ("aws-efa", include_str!("../../../policies/aws-efa.yaml")),
    ("aws-efa-2-per-gpu", include_str!("../../../policies/aws-efa-2-per-gpu.yaml")),
    ("aws-efa-1-per-gpu", include_str!("../../../policies/aws-efa-1-per-gpu.yaml")),
    ("aws-efa-dra", include_str!("../../../policies/aws-efa-dra.yaml")),
    ("azure-nd", include_str!("../../../policies/azure-nd.yaml")),
    ("azure-dranet", include_str!("../../../policies/azure-dranet.yaml")),
    ("gke-rdma", include_str!("../../../policies/gke-rdma.yaml")),
    ("gke-a4x", include_str!("../../../policies/gke-a4x.yaml")),
    ("gke-dranet", include_str!("../../../policies/gke-dranet.yaml")),
    ("gke-tcpx", include_str!("../../../policies/gke-tcpx.yaml")),
    ("gke-tcpxo", include_str!("../../../policies/gke-tcpxo.yaml")),
    ("nri-compat", include_str!("../../../policies/nri-compat.yaml")),
];
