//! The objects of a cluster, as far as they say something about a fabric. Objects come one by one, from files or from a
//! list, and only small parts of them are kept: a cluster has up to 130,000 nodes.

use super::gke_network::{GkeNetwork, GkeParameters};
use super::node::{Claimable, Node};
use crate::facts::{self, Fact, Kind, NicPolicy, NodePolicy, NodeState, ResourceFact};
use crate::json::decode::{DecodeError, object as decode};
use crate::multus::NetworkFact;
use crate::profile::FabricProfile;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Group of GKE's networks.
const GKE: &str = "networking.gke.io";

/// Kinds that are not facts of a decision, with their group, version and plural.
pub const FURTHER_KINDS: &[(&str, &str, &str, &str)] =
    &[(GKE, "v1", "networks", "Network"), (GKE, "v1", "gkenetworkparamsets", "GKENetworkParamSet")];

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
    slices: BTreeMap<String, Value>,
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

    /// Devices of DRA drivers belong to their nodes. Of a pool only the newest generation counts.
    pub(super) fn with_slices(mut self) -> Self {
        let pool = |slice: &Value| {
            let text = |at: &str| slice.pointer(at).and_then(Value::as_str).unwrap_or_default().to_owned();
            let generation = slice.pointer("/spec/pool/generation").and_then(Value::as_i64).unwrap_or(0);
            ((text("/spec/driver"), text("/spec/pool/name")), generation)
        };
        let mut newest: BTreeMap<(String, String), i64> = BTreeMap::new();
        for slice in self.slices.values() {
            let (key, generation) = pool(slice);
            let known = newest.entry(key).or_insert(generation);
            *known = generation.max(*known);
        }
        for (name, slice) in std::mem::take(&mut self.slices) {
            let (key, generation) = pool(&slice);
            let node = slice.pointer("/spec/nodeName").and_then(Value::as_str);
            let Some(node) = node.and_then(|node| self.nodes.get_mut(node)) else { continue };
            if newest.get(&key) != Some(&generation) {
                continue;
            }
            let all = node.claimable.entry(key.0).or_default();
            all.slice = name;
            add_devices(all, &slice);
        }
        self
    }
}

/// Adds the devices of a slice. Drivers put their own domain before the names of attributes: dranet has `rdma` and
/// `encapsulation`, dra-driver-sriov `rdmaCapable` and `linkType`.
fn add_devices(all: &mut Claimable, slice: &Value) {
    let devices = slice.pointer("/spec/devices").and_then(Value::as_array).into_iter().flatten();
    for device in devices {
        all.devices = all.devices.saturating_add(1);
        let attributes = device.get("attributes").or_else(|| device.pointer("/basic/attributes"));
        for (key, value) in attributes.and_then(Value::as_object).into_iter().flatten() {
            let text = || value.get("string").and_then(Value::as_str);
            match key.rsplit('/').next().unwrap_or_default() {
                "rdma" | "rdmaCapable" if value.get("bool") == Some(&Value::Bool(true)) => {
                    all.rdma = all.rdma.saturating_add(1);
                }
                "encapsulation" | "linkType" => {
                    let link = text().and_then(crate::multus::LinkLayer::parse);
                    all.links.extend(link.filter(|link| !all.links.contains(link)));
                }
                _ => {}
            }
        }
    }
}
