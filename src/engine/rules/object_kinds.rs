//! Group and kind of the objects that several rules check.

/// Group and kind of an object.
pub(super) type Kind = (&'static str, &'static str);

pub(super) const SRIOV: &str = "sriovnetwork.openshift.io";
pub(super) const NVIDIA: &str = "mellanox.com";
pub(super) const NV_IPAM: &str = "nv-ipam.nvidia.com";

pub(super) const NODE_POLICY: Kind = (SRIOV, "SriovNetworkNodePolicy");
pub(super) const NETWORK: Kind = (SRIOV, "SriovNetwork");
pub(super) const IB_NETWORK: Kind = (SRIOV, "SriovIBNetwork");
pub(super) const OVS_NETWORK: Kind = (SRIOV, "OVSNetwork");
pub(super) const POOL_CONFIG: Kind = (SRIOV, "SriovNetworkPoolConfig");
pub(super) const OPERATOR_CONFIG: Kind = (SRIOV, "SriovOperatorConfig");
pub(super) const MACVLAN_NETWORK: Kind = (NVIDIA, "MacvlanNetwork");
pub(super) const IPOIB_NETWORK: Kind = (NVIDIA, "IPoIBNetwork");
pub(super) const HOST_DEVICE_NETWORK: Kind = (NVIDIA, "HostDeviceNetwork");
pub(super) const NIC_CLUSTER_POLICY: Kind = (NVIDIA, "NicClusterPolicy");
pub(super) const NIC_NODE_POLICY: Kind = (NVIDIA, "NicNodePolicy");
pub(super) const IP_POOL: Kind = (NV_IPAM, "IPPool");
pub(super) const CIDR_POOL: Kind = (NV_IPAM, "CIDRPool");
pub(super) const NETWORK_ATTACHMENT_DEFINITION: Kind = ("k8s.cni.cncf.io", "NetworkAttachmentDefinition");
pub(super) const SPIDER_MULTUS_CONFIG: Kind = ("spiderpool.spidernet.io", "SpiderMultusConfig");
pub(super) const RESOURCE_CLAIM: Kind = ("resource.k8s.io", "ResourceClaim");
pub(super) const RESOURCE_CLAIM_TEMPLATE: Kind = ("resource.k8s.io", "ResourceClaimTemplate");
pub(super) const CONFIG_MAP: Kind = ("", "ConfigMap");
/// Its first version has accelerators in fields of its own and no template: rules on workloads do not see those.
pub(super) const MPI_JOB: Kind = ("kubeflow.org", "MPIJob");
pub(super) const FABRIC_PROFILE: Kind = ("fabric-admission.dev", "FabricProfile");

/// Network objects with an `ipam`.
pub(super) const WITH_IPAM: &[Kind] = &[
    NETWORK_ATTACHMENT_DEFINITION,
    MACVLAN_NETWORK,
    IPOIB_NETWORK,
    HOST_DEVICE_NETWORK,
    NETWORK,
    IB_NETWORK,
    OVS_NETWORK,
];

/// Objects whose fields the table of CRDs has.
pub(super) const WITH_FIELDS: &[Kind] = &[
    NODE_POLICY,
    NETWORK,
    IB_NETWORK,
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
