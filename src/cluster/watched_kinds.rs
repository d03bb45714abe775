//! The kinds that are watched.

use crate::facts::FactKind;

/// A kind as the API server serves it.
#[derive(Debug, PartialEq, Eq)]
pub struct WatchedKind {
    /// Its kind of fact.
    pub kind: FactKind,
    /// API group; empty for the core group.
    pub group: &'static str,
    /// Version.
    pub version: &'static str,
    /// Name in paths.
    pub plural: &'static str,
}

const fn watched(
    kind: FactKind,
    group: &'static str,
    version: &'static str,
    plural: &'static str,
) -> WatchedKind {
    WatchedKind { kind, group, version, plural }
}

const SRIOV: &str = "sriovnetwork.openshift.io";
const NVIDIA: &str = "mellanox.com";
const NV_IPAM: &str = "nv-ipam.nvidia.com";
const DRA: &str = "resource.k8s.io";

/// Every kind that is watched, cluster-wide. ConfigMaps are not: the server would receive all of the cluster's for the few
/// that configure a device plugin.
pub static WATCHED: &[WatchedKind] = &[
    watched(FactKind::FabricProfile, "fabric-admission.dev", "v1alpha1", "fabricprofiles"),
    watched(FactKind::Namespace, "", "v1", "namespaces"),
    watched(FactKind::Node, "", "v1", "nodes"),
    watched(FactKind::NetworkAttachmentDefinition, "k8s.cni.cncf.io", "v1", "network-attachment-definitions"),
    watched(FactKind::SriovNetwork, SRIOV, "v1", "sriovnetworks"),
    watched(FactKind::SriovIbNetwork, SRIOV, "v1", "sriovibnetworks"),
    watched(FactKind::OvsNetwork, SRIOV, "v1", "ovsnetworks"),
    watched(FactKind::NodePolicy, SRIOV, "v1", "sriovnetworknodepolicies"),
    watched(FactKind::NodeState, SRIOV, "v1", "sriovnetworknodestates"),
    watched(FactKind::PoolConfig, SRIOV, "v1", "sriovnetworkpoolconfigs"),
    watched(FactKind::OperatorConfig, SRIOV, "v1", "sriovoperatorconfigs"),
    watched(FactKind::MacvlanNetwork, NVIDIA, "v1alpha1", "macvlannetworks"),
    watched(FactKind::IpoibNetwork, NVIDIA, "v1alpha1", "ipoibnetworks"),
    watched(FactKind::HostDeviceNetwork, NVIDIA, "v1alpha1", "hostdevicenetworks"),
    watched(FactKind::NicClusterPolicy, NVIDIA, "v1alpha1", "nicclusterpolicies"),
    watched(FactKind::NicNodePolicy, NVIDIA, "v1alpha1", "nicnodepolicies"),
    watched(FactKind::IpPool, NV_IPAM, "v1alpha1", "ippools"),
    watched(FactKind::CidrPool, NV_IPAM, "v1alpha1", "cidrpools"),
    watched(FactKind::DeviceClass, DRA, "v1", "deviceclasses"),
    watched(FactKind::ComputeDomain, "resource.nvidia.com", "v1beta1", "computedomains"),
    watched(FactKind::ResourceClaim, DRA, "v1", "resourceclaims"),
    watched(FactKind::ResourceClaimTemplate, DRA, "v1", "resourceclaimtemplates"),
    watched(FactKind::ResourceSlice, DRA, "v1", "resourceslices"),
];

/// Kinds that decisions cannot do without.
pub(super) const ESSENTIAL: [&str; 3] = ["FabricProfile", "Namespace", "Node"];

impl WatchedKind {
    /// `apiVersion` of its objects.
    #[must_use]
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_owned()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// Path of all objects of the kind.
    #[must_use]
    pub fn path(&self) -> String {
        if self.group.is_empty() {
            format!("/api/{}/{}", self.version, self.plural)
        } else {
            format!("/apis/{}/{}/{}", self.group, self.version, self.plural)
        }
    }

    /// Name of the kind.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.kind.name()
    }
}
