//! The objects of a cluster, as far as they say something about a fabric. Objects come one by one, from files or from a
//! list, and only small parts of them are kept: a cluster has up to 130,000 nodes.

use super::contents_of_one_object::{About, Twice, keep_one_of_differing};
use super::gke_network_objects::{GkeNetwork, GkeParameters};
use super::karpenter_node_pool::NodePool;
use super::limit_of_comparisons::Comparisons;
use super::node_as_shown::Node;
use super::objects_by_resource::ByResource;
use crate::facts::{self, Fact, FactKind, NicPolicy, ResourceFact, SriovNodePolicy, SriovNodeState};
use crate::json::decode_with_place::{DecodeError, decode_object as decode};
use crate::multus::{LinkLayer, NetworkFact, ResourceName};
use crate::profile::FabricProfile;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
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

/// FactKind of Karpenter's pools. They show which machines may come, and no fabric.
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

impl Network {
    /// The link layer of the NIC that its interface is over, which stays with the node: a macvlan child has an Ethernet parent,
    /// an IPoIB child an InfiniBand one.
    pub(super) fn child_link(&self) -> Option<LinkLayer> {
        match self.fact.class.plugin.as_deref() {
            Some("macvlan") => Some(LinkLayer::Ethernet),
            Some("ipoib") => Some(LinkLayer::InfiniBand),
            _ => None,
        }
    }
}

/// What was read of a cluster.
#[derive(Debug, Default)]
pub struct Sources {
    pub(super) nodes: BTreeMap<String, Node>,
    networks_by_kind: BTreeMap<(String, String, FactKind), Network>,
    policies_by_object: BTreeMap<String, Arc<SriovNodePolicy>>,
    pools_by_object: BTreeMap<String, Vec<ResourceFact>>,
    /// Networks in the order of their names; the builder makes this field and the next four.
    pub(super) networks: ByResource<Network>,
    /// Policies, each with its object.
    pub(super) policies: ByResource<(String, Arc<SriovNodePolicy>)>,
    pub(super) pools: ByResource<ResourceFact>,
    pub(super) first_twice: Twice,
    /// Networks of macvlan and IPoIB, by their place among all.
    child_networks: Vec<usize>,
    /// By the name of the node; their groups of virtual functions are in the order of the resources.
    pub(super) states: BTreeMap<String, Arc<SriovNodeState>>,
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
    /// Objects of files with different contents.
    pub(super) twice: BTreeMap<String, About>,
    pub(super) comparisons: Comparisons,
}

impl Sources {
    /// Whether objects of a kind say something about a fabric.
    #[must_use]
    pub fn is_discovery_kind(group: &str, kind: &str) -> bool {
        let further = FURTHER_KINDS.iter().any(|(g, _, _, k)| *g == group && *k == kind);
        further || FactKind::of(group, kind).is_some_and(Self::is_discovery_fact)
    }

    /// Whether a kind of facts says something about a fabric. Claims and classes are of pods.
    #[must_use]
    pub fn is_discovery_fact(kind: FactKind) -> bool {
        kind.itself_if_it_makes_networks().is_some()
            || matches!(
                kind,
                FactKind::Node
                    | FactKind::FabricProfile
                    | FactKind::NodePolicy
                    | FactKind::NodeState
                    | FactKind::NicClusterPolicy
                    | FactKind::NicNodePolicy
                    | FactKind::ConfigMap
                    | FactKind::ResourceSlice
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
                "Network" => {
                    if let Some(network) = GkeNetwork::read(&object) {
                        let object = format!("{kind} {}", network.name);
                        let differs =
                            self.keep_part_of_object(|s| &mut s.gke_networks, network.name.clone(), network);
                        self.note_object_with_two_contents(differs, object, About::Gke);
                    }
                }
                "GKENetworkParamSet" => {
                    if let Some(parameters) = GkeParameters::read(&object) {
                        let object = format!("{kind} {}", parameters.name);
                        let differs = self.keep_part_of_object(
                            |s| &mut s.gke_parameters,
                            parameters.name.clone(),
                            parameters,
                        );
                        self.note_object_with_two_contents(differs, object, About::Gke);
                    }
                }
                _ => return Ok(()),
            }
            self.kinds.insert(kind.to_owned());
            return Ok(());
        }
        if group == KARPENTER {
            if kind == NODE_POOL {
                if let Some(pool) = NodePool::read(&decode(json)?) {
                    let object = format!("{kind} {}", pool.name);
                    let differs = self.keep_part_of_object(|s| &mut s.node_pools, pool.name.clone(), pool);
                    self.note_object_with_two_contents(differs, object, About::Nothing);
                }
                self.kinds.insert(kind.to_owned());
            }
            return Ok(());
        }
        let Some(of) = FactKind::of(group, kind) else { return Ok(()) };
        self.kinds.insert(kind.to_owned());
        match of {
            FactKind::Node => {
                if let Some(node) = Node::read(&decode(json)?) {
                    let name = node.name.clone();
                    let known = self.nodes.get_mut(&name).filter(|_| !self.complete);
                    if known.is_some_and(|known| known.merge_if_same_machine(&node)) {
                        return Ok(());
                    }
                    let differs = self.keep_part_of_object(|s| &mut s.nodes, name.clone(), node);
                    self.note_object_with_two_contents(
                        differs,
                        format!("{kind} {name}"),
                        About::Nodes([name].into()),
                    );
                }
                return Ok(());
            }
            FactKind::FabricProfile => {
                let profile = FabricProfile::read(json)?;
                let name = profile.metadata.name.clone();
                let differs = self.keep_part_of_object(|s| &mut s.profiles, name.clone(), profile);
                self.note_object_with_two_contents(differs, format!("{kind} {name}"), About::Nothing);
                return Ok(());
            }
            FactKind::ResourceSlice => {
                let object: Value = decode(json)?;
                self.add_resource_slice(&object);
                return Ok(());
            }
            _ => {}
        }
        let Some(entry) = facts::read_fact_of_object(of, json, namespace)? else { return Ok(()) };
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
                let object = network.object.clone();
                let key = (network.namespace.clone(), network.name.clone(), of);
                let differs = self.keep_part_of_object(|s| &mut s.networks_by_kind, key, network);
                self.note_object_with_two_contents(differs, object, About::Attached);
            }
            Some(Fact::NodePolicy(policy)) => {
                let differs = self.keep_part_of_object(|s| &mut s.policies_by_object, object.clone(), policy);
                self.note_object_with_two_contents(differs, object, About::Attached);
            }
            Some(Fact::NodeState(mut state)) => {
                // The groups of a resource are looked up for each resource of each group of nodes.
                Arc::make_mut(&mut state).groups.sort_by(|one, other| one.resource.cmp(&other.resource));
                let differs = self.keep_part_of_object(|s| &mut s.states, entry.name.clone(), state);
                self.note_object_with_two_contents(differs, object, About::Nodes([entry.name].into()));
            }
            Some(Fact::NicPolicy(policy)) => {
                self.add_device_plugin_pools(object, NicPolicy::clone(&policy).pools)
            }
            Some(Fact::Pools(pools)) => self.add_device_plugin_pools(object, pools.to_vec()),
            _ => {}
        }
        Ok(())
    }

    /// A kind whose objects could not be read, with the reason.
    pub fn add_unread_kind(&mut self, kind: &str, why: &str) {
        self.unread.insert(kind.to_owned(), why.to_owned());
    }

    /// Keeps a part of an object; whether another object of the same name differs.
    fn keep_part_of_object<K: Ord, T: PartialEq + Debug>(
        &mut self,
        of: impl FnOnce(&mut Self) -> &mut BTreeMap<K, T>,
        key: K,
        value: T,
    ) -> bool {
        if !self.complete {
            return keep_one_of_differing(of(self), key, value);
        }
        // A list of a live cluster may begin again; what is read last is newer.
        of(self).insert(key, value);
        false
    }

    /// Notes an object of files with two contents. In a list of a live cluster, an object that comes again is newer.
    fn note_object_with_two_contents(&mut self, differs: bool, object: String, about: About) {
        if !differs {
            return;
        }
        let known = self.twice.entry(object).or_insert_with(|| about.clone());
        if let (About::Nodes(known), About::Nodes(nodes)) = (known, about) {
            known.extend(nodes);
        }
    }

    /// Objects that were read more than once, with different content.
    pub fn objects_with_two_contents(&self) -> impl Iterator<Item = &str> {
        self.twice.keys().map(String::as_str)
    }

    fn add_device_plugin_pools(&mut self, object: String, pools: Vec<ResourceFact>) {
        let differs = self.keep_part_of_object(|s| &mut s.pools_by_object, object.clone(), pools);
        self.note_object_with_two_contents(differs, object, About::Attached);
    }

    fn add_resource_slice(&mut self, object: &Value) {
        let text = |at: &str| object.pointer(at).and_then(Value::as_str).unwrap_or_default();
        let name = text("/metadata/name").to_owned();
        let node = |spec: &Value| spec.pointer("/nodeName").and_then(Value::as_str).map(str::to_owned);
        // The metadata of two copies may differ.
        let spec = object.get("spec").cloned().unwrap_or_default();
        let nodes = self.slices.get(&name).and_then(node).into_iter().chain(node(&spec)).collect();
        let differs = self.keep_part_of_object(|s| &mut s.slices, name.clone(), spec);
        self.note_object_with_two_contents(differs, format!("ResourceSlice {name}"), About::Nodes(nodes));
    }

    /// What nodes look up. Networks have the names that pods use; a definition is more exact than the custom resource that it
    /// is rendered from.
    pub(super) fn with_lookup_tables(mut self) -> Self {
        let all = std::mem::take(&mut self.networks_by_kind);
        let networks: BTreeMap<(String, String), Network> =
            all.into_iter().map(|((namespace, name, _), network)| ((namespace, name), network)).collect();
        self.networks = ByResource::new(networks.into_values(), |network| network.fact.resource.clone());
        let policies = std::mem::take(&mut self.policies_by_object);
        self.policies = ByResource::new(policies.into_iter(), |(_, policy)| {
            Some(ResourceName::Suffix(policy.resource.clone()))
        });
        let pools = std::mem::take(&mut self.pools_by_object);
        self.pools = ByResource::new(pools.into_values().flatten(), |pool| Some(pool.name.clone()));
        let all = self.networks.all().iter().enumerate();
        self.child_networks =
            all.filter(|(_, network)| network.child_link().is_some()).map(|(at, _)| at).collect();
        self.first_twice = Twice::new(&self.twice);
        self
    }

    /// Networks whose interface is over one of the node's, which stays with the node.
    pub(super) fn child_networks(&self) -> impl Iterator<Item = &Network> {
        self.child_networks.iter().filter_map(|at| self.networks.all().get(*at))
    }

    /// The objects of a live cluster, of which every kind is asked for: a kind without objects has none.
    #[must_use]
    pub fn complete_for_live_cluster() -> Self {
        Self { complete: true, ..Self::default() }
    }
}
