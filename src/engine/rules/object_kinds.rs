//! Group and kind of the objects that several rules check.

/// Group and kind of an object.
pub(super) type GroupAndKind = (&'static str, &'static str);

pub(super) const SRIOV: &str = "sriovnetwork.openshift.io";
pub(super) const NVIDIA: &str = "mellanox.com";
pub(super) const NV_IPAM: &str = "nv-ipam.nvidia.com";

pub(super) const NODE_POLICY: GroupAndKind = (SRIOV, "SriovNetworkNodePolicy");
pub(super) const SRIOV_NETWORK: GroupAndKind = (SRIOV, "SriovNetwork");
pub(super) const SRIOV_IB_NETWORK: GroupAndKind = (SRIOV, "SriovIBNetwork");
pub(super) const OVS_NETWORK: GroupAndKind = (SRIOV, "OVSNetwork");
pub(super) const POOL_CONFIG: GroupAndKind = (SRIOV, "SriovNetworkPoolConfig");
pub(super) const OPERATOR_CONFIG: GroupAndKind = (SRIOV, "SriovOperatorConfig");
pub(super) const MACVLAN_NETWORK: GroupAndKind = (NVIDIA, "MacvlanNetwork");
pub(super) const IPOIB_NETWORK: GroupAndKind = (NVIDIA, "IPoIBNetwork");
pub(super) const HOST_DEVICE_NETWORK: GroupAndKind = (NVIDIA, "HostDeviceNetwork");
pub(super) const NIC_CLUSTER_POLICY: GroupAndKind = (NVIDIA, "NicClusterPolicy");
pub(super) const NIC_NODE_POLICY: GroupAndKind = (NVIDIA, "NicNodePolicy");
pub(super) const IP_POOL: GroupAndKind = (NV_IPAM, "IPPool");
pub(super) const CIDR_POOL: GroupAndKind = (NV_IPAM, "CIDRPool");
pub(super) const NETWORK_ATTACHMENT_DEFINITION: GroupAndKind =
    ("k8s.cni.cncf.io", "NetworkAttachmentDefinition");
pub(super) const SPIDER_MULTUS_CONFIG: GroupAndKind = ("spiderpool.spidernet.io", "SpiderMultusConfig");
pub(super) const RESOURCE_CLAIM: GroupAndKind = ("resource.k8s.io", "ResourceClaim");
pub(super) const RESOURCE_CLAIM_TEMPLATE: GroupAndKind = ("resource.k8s.io", "ResourceClaimTemplate");
pub(super) const CONFIG_MAP: GroupAndKind = ("", "ConfigMap");
/// Its first version has accelerators in fields of its own and no template: rules on workloads do not see those.
pub(super) const MPI_JOB: GroupAndKind = ("kubeflow.org", "MPIJob");
pub(super) const FABRIC_PROFILE: GroupAndKind = ("fabric-admission.dev", "FabricProfile");

/// Network objects with an `ipam`.
pub(super) const NETWORKS_WITH_IPAM: &[GroupAndKind] = &[
    NETWORK_ATTACHMENT_DEFINITION,
    MACVLAN_NETWORK,
    IPOIB_NETWORK,
    HOST_DEVICE_NETWORK,
    SRIOV_NETWORK,
    SRIOV_IB_NETWORK,
    OVS_NETWORK,
];

/// Objects whose fields the table of CRDs has.
pub(super) const KINDS_WITH_KNOWN_FIELDS: &[GroupAndKind] = &[
    NODE_POLICY,
    SRIOV_NETWORK,
    SRIOV_IB_NETWORK,
    OVS_NETWORK,
    POOL_CONFIG,
    OPERATOR_CONFIG,
    NIC_CLUSTER_POLICY,
    NIC_NODE_POLICY,
    MACVLAN_NETWORK,
    IPOIB_NETWORK,
    HOST_DEVICE_NETWORK,
    IP_POOL,
    CIDR_POOL,
    NETWORK_ATTACHMENT_DEFINITION,
    SPIDER_MULTUS_CONFIG,
];
