//! The objects of a cluster, as far as they say something about a fabric. Objects come one by one, from files or from a
//! list, and only small parts of them are kept: a cluster has up to 130,000 nodes.

use super::gke_network::{GkeNetwork, GkeParameters};
use super::node::Node;
use super::node_pool::NodePool;
use crate::facts::{self, Fact, Kind, NicPolicy, NodePolicy, NodeState, ResourceFact};
use crate::json::decode::{DecodeError, object as decode};
use crate::multus::NetworkFact;
use crate::profile::FabricProfile;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Group of GKE's networks.
const GKE: &str = "networking.gke.io";
/// Group of Karpenter.
const KARPENTER: &str = "karpenter.sh";

/// Kinds that are not facts of a decision, with their group, version and plural.
pub const FURTHER_KINDS: &[(&str, &str, &str, &str)] = &[
    (GKE, "v1", "networks", "Network"),
    (GKE, "v1", "gkenetworkparamsets", "GKENetworkParamSet"),
    (KARPENTER, "v1", "nodepools", NODE_POOL),
];

/// Kind of Karpenter's pools. They show which machines may come, and no fabric.
pub(super) const NODE_POOL: &str = "NodePool";

/// A network by the name that pods use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Network {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) fact: NetworkFact,
    /// The object that defines it, by kind, namespace and name.
    pub(super) object: String,
}

/// What was read of a cluster.
#[derive(Debug, Default)]
pub struct Sources {
    pub(super) nodes: BTreeMap<String, Node>,
    pub(super) networks: BTreeMap<(String, String), (Kind, Network)>,
    pub(super) policies: BTreeMap<String, Arc<NodePolicy>>,
    pub(super) states: BTreeMap<String, Arc<NodeState>>,
    pub(super) pools: Vec<ResourceFact>,
    pub(super) gke_networks: BTreeMap<String, GkeNetwork>,
    pub(super) gke_parameters: BTreeMap<String, GkeParameters>,
    pub(super) slices: BTreeMap<String, Value>,
    pub(super) node_pools: BTreeMap<String, NodePool>,
    pub(super) profiles: BTreeMap<String, FabricProfile>,
    pub(super) unread: BTreeMap<String, String>,
    /// Kinds of which at least one object was read.
    pub(super) kinds: BTreeSet<String>,
    /// Whether every kind was asked for: then a kind without objects has none.
    pub(super) complete: bool,
}

impl Sources {
    /// Whether objects of a kind say something about a fabric.
    #[must_use]
    pub fn takes(group: &str, kind: &str) -> bool {
        let further = FURTHER_KINDS.iter().any(|(g, _, _, k)| *g == group && *k == kind);
        further || Kind::of(group, kind).is_some_and(Self::reads)
    }

    /// Whether a kind of facts says something about a fabric. Claims and classes are of pods.
    #[must_use]
    pub fn reads(kind: Kind) -> bool {
        kind.makes_network().is_some()
            || matches!(
                kind,
                Kind::Node
                    | Kind::FabricProfile
                    | Kind::NodePolicy
                    | Kind::NodeState
                    | Kind::NicClusterPolicy
                    | Kind::NicNodePolicy
                    | Kind::ConfigMap
                    | Kind::ResourceSlice
            )
    }

    /// Takes an object; `namespace` is that of an object without one.
    ///
    /// # Errors
    /// [`DecodeError`] if a field that is read has another type.
    pub fn add(&mut self, group: &str, kind: &str, json: &str, namespace: &str) -> Result<(), DecodeError> {
        if group == GKE {
            let object: Value = decode(json)?;
            match kind {
                "Network" => self.gke_networks.extend(GkeNetwork::read(&object).map(|n| (n.name.clone(), n))),
                "GKENetworkParamSet" => {
                    self.gke_parameters.extend(GkeParameters::read(&object).map(|p| (p.name.clone(), p)));
                }
                _ => return Ok(()),
            }
            self.kinds.insert(kind.to_owned());
            return Ok(());
        }
        if group == KARPENTER {
            if kind == NODE_POOL {
                let pool = NodePool::read(&decode(json)?);
                self.node_pools.extend(pool.map(|pool| (pool.name.clone(), pool)));
                self.kinds.insert(kind.to_owned());
            }
            return Ok(());
        }
        let Some(of) = Kind::of(group, kind) else { return Ok(()) };
        self.kinds.insert(kind.to_owned());
        match of {
            Kind::Node => {
                if let Some(node) = Node::read(&decode(json)?) {
                    self.nodes.insert(node.name.clone(), node);
                }
                return Ok(());
            }
            Kind::FabricProfile => {
                let profile = FabricProfile::read(json)?;
                self.profiles.insert(profile.metadata.name.clone(), profile);
                return Ok(());
            }
            Kind::ResourceSlice => {
                let object: Value = decode(json)?;
                let name = object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
                self.slices.insert(name.to_owned(), object);
                return Ok(());
            }
            _ => {}
        }
        let Some(entry) = facts::read(of, json, namespace)? else { return Ok(()) };
        let object = match entry.namespace.as_str() {
            "" => format!("{kind} {}", entry.name),
            namespace => format!("{kind} {namespace}/{}", entry.name),
        };
        match entry.fact {
            Some(Fact::Network(rendered)) => {
                let network = Network {
                    namespace: rendered.namespace.clone(),
                    name: rendered.name.clone(),
                    fact: rendered.fact.clone(),
                    object,
                };
                let key = (network.namespace.clone(), network.name.clone());
                // A definition is more exact than the custom resource that it is rendered from.
                if self.networks.get(&key).is_none_or(|(known, _)| *known <= of) {
                    self.networks.insert(key, (of, network));
                }
            }
            Some(Fact::NodePolicy(policy)) => drop(self.policies.insert(object, policy)),
            Some(Fact::NodeState(state)) => drop(self.states.insert(entry.name, state)),
            Some(Fact::NicPolicy(policy)) => self.pools.extend(NicPolicy::clone(&policy).pools),
            Some(Fact::Pools(pools)) => self.pools.extend(pools.iter().cloned()),
            _ => {}
        }
        Ok(())
    }

    /// A kind whose objects could not be read, with the reason.
    pub fn unread(&mut self, kind: &str, why: &str) {
        self.unread.insert(kind.to_owned(), why.to_owned());
    }

    /// Every kind was asked for, as a live cluster is: a kind without objects has none.
    pub fn set_complete(&mut self) {
        self.complete = true;
    }
}
