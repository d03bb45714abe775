//! The kinds that are watched.

use crate::facts::Kind;

/// A kind as the API server serves it.
#[derive(Debug, PartialEq, Eq)]
pub struct Watched {
    /// Its kind of fact.
    pub kind: Kind,
    /// API group; empty for the core group.
    pub group: &'static str,
    /// Version.
    pub version: &'static str,
    /// Name in paths.
    pub plural: &'static str,
}

const fn watched(kind: Kind, group: &'static str, version: &'static str, plural: &'static str) -> Watched {
    Watched { kind, group, version, plural }
}

const SRIOV: &str = "sriovnetwork.openshift.io";
const NVIDIA: &str = "mellanox.com";
const NV_IPAM: &str = "nv-ipam.nvidia.com";
const DRA: &str = "resource.k8s.io";

/// Every kind that is watched, cluster-wide. ConfigMaps are not: the server would receive all of the cluster's for the few
/// that configure a device plugin.
pub static WATCHED: &[Watched] = &[
    watched(Kind::FabricProfile, "fabric-admission.dev", "v1alpha1", "fabricprofiles"),
    watched(Kind::Namespace, "", "v1", "namespaces"),
    watched(Kind::Node, "", "v1", "nodes"),
    watched(Kind::NetworkAttachmentDefinition, "k8s.cni.cncf.io", "v1", "network-attachment-definitions"),
    watched(Kind::SriovNetwork, SRIOV, "v1", "sriovnetworks"),
    watched(Kind::SriovIbNetwork, SRIOV, "v1", "sriovibnetworks"),
    watched(Kind::OvsNetwork, SRIOV, "v1", "ovsnetworks"),
    watched(Kind::NodePolicy, SRIOV, "v1", "sriovnetworknodepolicies"),
    watched(Kind::NodeState, SRIOV, "v1", "sriovnetworknodestates"),
    watched(Kind::PoolConfig, SRIOV, "v1", "sriovnetworkpoolconfigs"),
    watched(Kind::OperatorConfig, SRIOV, "v1", "sriovoperatorconfigs"),
    watched(Kind::MacvlanNetwork, NVIDIA, "v1alpha1", "macvlannetworks"),
    watched(Kind::IpoibNetwork, NVIDIA, "v1alpha1", "ipoibnetworks"),
    watched(Kind::HostDeviceNetwork, NVIDIA, "v1alpha1", "hostdevicenetworks"),
    watched(Kind::NicClusterPolicy, NVIDIA, "v1alpha1", "nicclusterpolicies"),
    watched(Kind::NicNodePolicy, NVIDIA, "v1alpha1", "nicnodepolicies"),
    watched(Kind::IpPool, NV_IPAM, "v1alpha1", "ippools"),
    watched(Kind::CidrPool, NV_IPAM, "v1alpha1", "cidrpools"),
    watched(Kind::DeviceClass, DRA, "v1", "deviceclasses"),
    watched(Kind::ComputeDomain, "resource.nvidia.com", "v1beta1", "computedomains"),
    watched(Kind::ResourceClaim, DRA, "v1", "resourceclaims"),
    watched(Kind::ResourceClaimTemplate, DRA, "v1", "resourceclaimtemplates"),
    watched(Kind::ResourceSlice, DRA, "v1", "resourceslices"),
];

/// Kinds that decisions cannot do without.
pub(super) const ESSENTIAL: [&str; 3] = ["FabricProfile", "Namespace", "Node"];

impl Watched {
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
