//! The kinds of objects that are facts.

/// A kind. Networks of one name are added in this order: a definition is more exact than the custom resource it is
/// rendered from, since it has the resource's prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FactKind {
    /// Namespace.
    Namespace,
    /// Node. Nodes are folded into classes, not kept one by one.
    Node,
    /// FabricProfile.
    FabricProfile,
    /// IPoIBNetwork of the NVIDIA Network Operator.
    IpoibNetwork,
    /// MacvlanNetwork of the NVIDIA Network Operator.
    MacvlanNetwork,
    /// HostDeviceNetwork of the NVIDIA Network Operator.
    HostDeviceNetwork,
    /// OVSNetwork of the SR-IOV operator.
    OvsNetwork,
    /// SriovIBNetwork of the SR-IOV operator.
    SriovIbNetwork,
    /// SriovNetwork of the SR-IOV operator.
    SriovNetwork,
    /// NetworkAttachmentDefinition.
    NetworkAttachmentDefinition,
    /// SriovNetworkNodePolicy.
    NodePolicy,
    /// SriovNetworkNodeState.
    NodeState,
    /// SriovNetworkPoolConfig.
    PoolConfig,
    /// SriovOperatorConfig.
    OperatorConfig,
    /// NicClusterPolicy of the NVIDIA Network Operator.
    NicClusterPolicy,
    /// NicNodePolicy of the NVIDIA Network Operator.
    NicNodePolicy,
    /// IPPool of nv-ipam.
    IpPool,
    /// CIDRPool of nv-ipam.
    CidrPool,
    /// ConfigMap, if it configures a device plugin or has variables.
    ConfigMap,
    /// DeviceClass of DRA.
    DeviceClass,
    /// ComputeDomain of NVIDIA's DRA driver. Before the templates: an existing one is more exact than one that will
    /// be created.
    ComputeDomain,
    /// ResourceClaim of DRA.
    ResourceClaim,
    /// ResourceClaimTemplate of DRA.
    ResourceClaimTemplate,
    /// ResourceSlice of DRA.
    ResourceSlice,
    /// TrainingRuntime of Kubeflow Trainer.
    TrainingRuntime,
    /// ClusterTrainingRuntime of Kubeflow Trainer.
    ClusterTrainingRuntime,
}

const SRIOV: &str = "sriovnetwork.openshift.io";
const NVIDIA: &str = "mellanox.com";
const NV_IPAM: &str = "nv-ipam.nvidia.com";
const DRA: &str = "resource.k8s.io";
const NVIDIA_RESOURCES: &str = "resource.nvidia.com";
const TRAINER: &str = "trainer.kubeflow.org";

/// Group and kind of every kind of fact that can be read by its type only: all but FabricProfile, whose faults are
/// found with the other profiles, and the training runtimes, which are reviewed as workloads.
pub static KINDS_THAT_ARE_ONLY_FACTS: &[(&str, &str)] = &[
    ("", "Namespace"),
    ("", "Node"),
    (NVIDIA, "IPoIBNetwork"),
    (NVIDIA, "MacvlanNetwork"),
    (NVIDIA, "HostDeviceNetwork"),
    (SRIOV, "OVSNetwork"),
    (SRIOV, "SriovIBNetwork"),
    (SRIOV, "SriovNetwork"),
    ("k8s.cni.cncf.io", "NetworkAttachmentDefinition"),
    (SRIOV, "SriovNetworkNodePolicy"),
    (SRIOV, "SriovNetworkNodeState"),
    (SRIOV, "SriovNetworkPoolConfig"),
    (SRIOV, "SriovOperatorConfig"),
    (NVIDIA, "NicClusterPolicy"),
    (NVIDIA, "NicNodePolicy"),
    (NV_IPAM, "IPPool"),
    (NV_IPAM, "CIDRPool"),
    ("", "ConfigMap"),
    (DRA, "DeviceClass"),
    (NVIDIA_RESOURCES, "ComputeDomain"),
    (DRA, "ResourceClaim"),
    (DRA, "ResourceClaimTemplate"),
    (DRA, "ResourceSlice"),
];

impl FactKind {
    /// The kind by API group and name; `None` if its objects are not facts. Versions are not distinguished: the
    /// fields that are read are the same in all of them.
    #[must_use]
    pub fn of(group: &str, kind: &str) -> Option<Self> {
        Some(match (group, kind) {
            ("", "Namespace") => Self::Namespace,
            ("", "Node") => Self::Node,
            ("", "ConfigMap") => Self::ConfigMap,
            ("fabric-admission.dev", "FabricProfile") => Self::FabricProfile,
            ("k8s.cni.cncf.io", "NetworkAttachmentDefinition") => Self::NetworkAttachmentDefinition,
            (SRIOV, "SriovNetwork") => Self::SriovNetwork,
            (SRIOV, "SriovIBNetwork") => Self::SriovIbNetwork,
            (SRIOV, "OVSNetwork") => Self::OvsNetwork,
            (SRIOV, "SriovNetworkNodePolicy") => Self::NodePolicy,
            (SRIOV, "SriovNetworkNodeState") => Self::NodeState,
            (SRIOV, "SriovNetworkPoolConfig") => Self::PoolConfig,
            (SRIOV, "SriovOperatorConfig") => Self::OperatorConfig,
            (NVIDIA, "MacvlanNetwork") => Self::MacvlanNetwork,
            (NVIDIA, "IPoIBNetwork") => Self::IpoibNetwork,
            (NVIDIA, "HostDeviceNetwork") => Self::HostDeviceNetwork,
            (NVIDIA, "NicClusterPolicy") => Self::NicClusterPolicy,
            (NVIDIA, "NicNodePolicy") => Self::NicNodePolicy,
            (NV_IPAM, "IPPool") => Self::IpPool,
            (NV_IPAM, "CIDRPool") => Self::CidrPool,
            (DRA, "DeviceClass") => Self::DeviceClass,
            (NVIDIA_RESOURCES, "ComputeDomain") => Self::ComputeDomain,
            (DRA, "ResourceClaim") => Self::ResourceClaim,
            (DRA, "ResourceClaimTemplate") => Self::ResourceClaimTemplate,
            (DRA, "ResourceSlice") => Self::ResourceSlice,
            (TRAINER, "TrainingRuntime") => Self::TrainingRuntime,
            (TRAINER, "ClusterTrainingRuntime") => Self::ClusterTrainingRuntime,
            _ => return None,
        })
    }

    /// Names of all kinds.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let others = [Self::FabricProfile, Self::TrainingRuntime, Self::ClusterTrainingRuntime];
        KINDS_THAT_ARE_ONLY_FACTS.iter().map(|(_, kind)| *kind).chain(others.map(Self::name))
    }

    /// Name of the kind as manifests write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::FabricProfile => "FabricProfile",
            Self::TrainingRuntime => "TrainingRuntime",
            Self::ClusterTrainingRuntime => "ClusterTrainingRuntime",
            other => {
                let mut all = KINDS_THAT_ARE_ONLY_FACTS
                    .iter()
                    .filter(|(group, kind)| Self::of(group, kind) == Some(other));
                all.next().map_or("", |(_, kind)| kind)
            }
        }
    }

    /// Whether its objects are namespaced.
    #[must_use]
    pub fn namespaced(self) -> bool {
        match self {
            Self::Namespace
            | Self::Node
            | Self::FabricProfile
            | Self::IpoibNetwork
            | Self::MacvlanNetwork
            | Self::HostDeviceNetwork
            | Self::NicClusterPolicy
            | Self::NicNodePolicy
            | Self::DeviceClass
            | Self::ResourceSlice
            | Self::ClusterTrainingRuntime => false,
            Self::OvsNetwork
            | Self::SriovIbNetwork
            | Self::SriovNetwork
            | Self::NetworkAttachmentDefinition
            | Self::NodePolicy
            | Self::NodeState
            | Self::IpPool
            | Self::CidrPool
            | Self::PoolConfig
            | Self::OperatorConfig
            | Self::ConfigMap
            | Self::ComputeDomain
            | Self::ResourceClaim
            | Self::ResourceClaimTemplate
            | Self::TrainingRuntime => true,
        }
    }

    /// The kind itself where its objects are networks, or are rendered to them.
    #[must_use]
    pub fn itself_if_it_makes_networks(self) -> Option<Self> {
        (Self::IpoibNetwork..=Self::NetworkAttachmentDefinition).contains(&self).then_some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_readable_kind_has_its_name() {
        for (group, name) in KINDS_THAT_ARE_ONLY_FACTS {
            let kind = FactKind::of(group, name).unwrap();
            assert_eq!(kind.name(), *name);
            assert_ne!(kind, FactKind::FabricProfile);
        }
        assert_eq!(
            FactKind::names().count(),
            FactKind::ClusterTrainingRuntime as usize + 1,
            "every kind has a name"
        );
        assert_eq!(FactKind::of("", "Pod"), None);
        assert_eq!(FactKind::of("fabric-admission.dev", "FabricProfile").unwrap().name(), "FabricProfile");
    }
}
