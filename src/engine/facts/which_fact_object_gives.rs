//! What one object of the cluster says: the facts in it, by its kind.

use super::address_pool::AddressPool;
use super::compute_domain::ImexChannelClaimTemplate;
use super::config_map::ConfigMapTexts;
use super::device_claim::DeviceClaim;
use super::device_class::DeviceClass;
use super::extended_resource::ResourceFact;
use super::fact_kinds::FactKind;
use super::namespace_labels_and_mode::NamespaceFacts;
use super::network_of_one_object::{NetworkFromObject, NetworkObject, network_of_object};
use super::nic_cluster_and_node_policy::NicPolicy;
use super::resource_slice::DevicesInResourceSlice;
use super::sriov_node_policy::SriovNodePolicy;
use super::sriov_node_state::SriovNodeState;
use super::sriov_operator_config::SriovOperatorConfig;
use super::sriov_pool_config::SriovPoolConfig;
use super::training_runtime::TrainingRuntime;
use super::{
    address_pool, compute_domain, config_map, device_claim, device_class, namespace_labels_and_mode,
    nic_cluster_and_node_policy, object_shape, resource_slice, sriov_node_policy, sriov_node_state,
    sriov_operator_config, sriov_pool_config, training_runtime,
};
use crate::json::decode_with_place::{DecodeError, decode_object as decode};
use crate::nodes::NodeObject;
use crate::profile::Profile;
use std::sync::Arc;

/// The fact in one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// A namespace: its labels and annotations.
    Namespace(Arc<NamespaceFacts>),
    /// A FabricProfile.
    Profile(Arc<Profile>),
    /// A network, as an object or as rendered from one.
    Network(Arc<NetworkFromObject>),
    /// A policy of the SR-IOV operator.
    NodePolicy(Arc<SriovNodePolicy>),
    /// The NICs of a node, by the SR-IOV operator.
    NodeState(Arc<SriovNodeState>),
    /// A pool of nodes of the SR-IOV operator.
    PoolConfig(Arc<SriovPoolConfig>),
    /// The settings of the SR-IOV operator.
    OperatorConfig(Arc<SriovOperatorConfig>),
    /// Device plugins and driver of the NVIDIA Network Operator.
    NicPolicy(Arc<NicPolicy>),
    /// The resources that device plugins serve, by the text of their configuration.
    Pools(Arc<Vec<ResourceFact>>),
    /// Variables and scripts of a ConfigMap.
    Texts(Arc<ConfigMapTexts>),
    /// A DeviceClass.
    DeviceClass(Arc<DeviceClass>),
    /// A ResourceClaim or a template of one.
    DeviceClaim(Arc<DeviceClaim>),
    /// A template of claims for IMEX channels.
    ChannelTemplate(Arc<ImexChannelClaimTemplate>),
    /// A ResourceSlice.
    Slice(Arc<DevicesInResourceSlice>),
    /// A pool of addresses.
    AddressPool(Arc<AddressPool>),
    /// A TrainingRuntime.
    TrainingRuntime(Arc<TrainingRuntime>),
}

/// An object by name, and its fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactEntry {
    /// Empty for cluster-scoped kinds.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// `metadata.resourceVersion`.
    pub version: Option<String>,
    /// `None` if the object has no fact that a decision needs.
    pub fact: Option<Fact>,
}

/// Reads an object of a kind other than FabricProfile, which needs the compiled-in profiles. `None` where it has no
/// name: nothing can refer to it.
///
/// # Errors
/// [`DecodeError`] when a field that is read has another type.
pub fn read_fact_of_object(
    kind: FactKind,
    json: &str,
    default_namespace: &str,
) -> Result<Option<FactEntry>, DecodeError> {
    if let Some(origin) = kind.itself_if_it_makes_networks() {
        let object: NetworkObject = decode(json)?;
        let Some(name) = object.name().map(str::to_owned) else { return Ok(None) };
        let own = if kind.namespaced() { object.namespace().unwrap_or(default_namespace) } else { "" };
        let namespace = own.to_owned();
        let fact = network_of_object(origin, &object, default_namespace).map(|r| Fact::Network(Arc::new(r)));
        return Ok(Some(FactEntry { namespace, name, version: object.version(), fact }));
    }
    let (meta, fact) = match kind {
        FactKind::Namespace => {
            let (meta, fact) = namespace_labels_and_mode::read(json)?;
            (meta, Some(Fact::Namespace(Arc::new(fact))))
        }
        FactKind::NodePolicy => {
            let (meta, fact) = sriov_node_policy::read(json)?;
            (meta, fact.map(|f| Fact::NodePolicy(Arc::new(f))))
        }
        FactKind::NodeState => {
            let (meta, fact) = sriov_node_state::read(json)?;
            (meta, Some(Fact::NodeState(Arc::new(fact))))
        }
        FactKind::PoolConfig => {
            let (meta, fact) = sriov_pool_config::read(json)?;
            (meta, Some(Fact::PoolConfig(Arc::new(fact))))
        }
        FactKind::OperatorConfig => {
            let (meta, fact) = sriov_operator_config::read(json)?;
            (meta, fact.map(|f| Fact::OperatorConfig(Arc::new(f))))
        }
        FactKind::NicClusterPolicy | FactKind::NicNodePolicy => {
            let (meta, policy) = nic_cluster_and_node_policy::read(kind, json)?;
            let pools = with_origin(policy.pools, kind, &meta);
            (meta, Some(Fact::NicPolicy(Arc::new(NicPolicy { pools, ..policy }))))
        }
        FactKind::ConfigMap => {
            let (meta, says) = config_map::read(json)?;
            let fact = says.map(|says| match says {
                config_map::ConfigMapFact::Pools(pools) => {
                    Fact::Pools(Arc::new(with_origin(pools, kind, &meta)))
                }
                config_map::ConfigMapFact::Texts(texts) => Fact::Texts(Arc::new(texts)),
            });
            (meta, fact)
        }
        FactKind::IpPool | FactKind::CidrPool => {
            let (meta, fact) = address_pool::read(json, kind == FactKind::CidrPool)?;
            (meta, Some(Fact::AddressPool(Arc::new(fact))))
        }
        FactKind::DeviceClass => {
            let (meta, fact) = device_class::read(json)?;
            (meta, Some(Fact::DeviceClass(Arc::new(fact))))
        }
        FactKind::ResourceClaim => {
            let (meta, fact) = device_claim::read_claim(json)?;
            (meta, Some(Fact::DeviceClaim(Arc::new(fact))))
        }
        FactKind::ResourceClaimTemplate => {
            let (meta, fact) = device_claim::read_template(json)?;
            (meta, Some(Fact::DeviceClaim(Arc::new(fact))))
        }
        FactKind::ComputeDomain => {
            let (meta, fact) = compute_domain::read(json)?;
            (meta, fact.map(|f| Fact::ChannelTemplate(Arc::new(f))))
        }
        FactKind::ResourceSlice => {
            let (meta, fact) = resource_slice::read(json)?;
            (meta, fact.map(|f| Fact::Slice(Arc::new(f))))
        }
        FactKind::TrainingRuntime | FactKind::ClusterTrainingRuntime => {
            let (meta, fact) = training_runtime::read(json)?;
            (meta, fact.map(|f| Fact::TrainingRuntime(Arc::new(f))))
        }
        FactKind::Node => {
            decode::<NodeObject<'_>>(json)?;
            return Ok(None);
        }
        _ => return Ok(None),
    };
    let version = meta.resource_version();
    let Some(name) = meta.name.filter(|n| !n.is_empty()) else { return Ok(None) };
    let own = || meta.namespace.filter(|n| !n.is_empty()).unwrap_or_else(|| default_namespace.to_owned());
    let namespace = if kind.namespaced() { own() } else { String::new() };
    Ok(Some(FactEntry { namespace, name, version, fact }))
}

/// Pools with the object that they come from.
fn with_origin(mut pools: Vec<ResourceFact>, kind: FactKind, meta: &object_shape::Meta) -> Vec<ResourceFact> {
    let name = meta.name.as_deref().unwrap_or_default();
    let origin: Arc<str> = match meta.namespace.as_deref().filter(|_| kind.namespaced()) {
        Some(namespace) => format!("{} {namespace}/{name}", kind.name()),
        None => format!("{} {name}", kind.name()),
    }
    .into();
    for pool in &mut pools {
        pool.origins = vec![Arc::clone(&origin)];
    }
    pools
}

/// Checks that an object can be read as a fact of its kind.
///
/// # Errors
/// [`DecodeError`] when a field that is read has another type.
pub fn check_object_is_readable(kind: FactKind, json: &str) -> Result<(), DecodeError> {
    read_fact_of_object(kind, json, "").map(|_| ())
}

/// Whether an object is a fact. A ConfigMap is one only if it configures a device plugin, or has variables of NCCL
/// and its companions.
#[must_use]
pub fn is_fact(kind: FactKind, json: &str) -> bool {
    kind != FactKind::ConfigMap
        || read_fact_of_object(kind, json, "").is_ok_and(|entry| entry.is_some_and(|e| e.fact.is_some()))
}
