//! What every object says, kept one by one, so that an object that changes or goes leaves no trace of what it was.

use super::Objects;
use super::layer::Layer;
use crate::facts::{Fact, Index, Kind};
use crate::profile::Profile;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// An object by kind and name; the namespace is empty for cluster-scoped kinds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Id {
    pub(super) kind: Kind,
    pub(super) namespace: String,
    pub(super) name: String,
}

/// Profiles by name.
pub(super) type Profiles = BTreeMap<String, Arc<Profile>>;

/// Everything laid together.
#[derive(Debug, Default)]
pub(super) struct Folded {
    pub(super) objects: Objects,
    pub(super) profiles: Profiles,
    /// Whether files of a cluster have networks.
    pub(super) lists_networks: bool,
}

/// The facts of one object, one a layer.
type Layers = [Option<Fact>; 3];

#[derive(Debug, Default)]
pub(super) struct Store(BTreeMap<Id, Layers>);

impl Store {
    /// Puts the fact of an object in place of the one before; `None` takes it away.
    /// Whether that changed anything.
    pub(super) fn put(&mut self, layer: Layer, id: Id, fact: Option<Fact>) -> bool {
        if fact.is_none() && !self.0.contains_key(&id) {
            return false;
        }
        let layers = self.0.entry(id.clone()).or_default();
        let Some(slot) = layers.get_mut(layer as usize) else { return false };
        let changed = *slot != fact;
        *slot = fact;
        if layers.iter().all(Option::is_none) {
            self.0.remove(&id);
        }
        changed
    }

    /// Names of a kind's objects in a layer that are not to be kept.
    pub(super) fn others(&self, layer: Layer, kind: Kind, kept: impl Fn(&str, &str) -> bool) -> Vec<Id> {
        let of_kind = self.0.iter().filter(|(id, layers)| {
            id.kind == kind && layers.get(layer as usize).is_some_and(Option::is_some)
        });
        of_kind.filter(|(id, _)| !kept(&id.namespace, &id.name)).map(|(id, _)| id.clone()).collect()
    }

    /// The view of everything that is there. It depends on what is there alone, not on how it came: objects are
    /// taken in the order of their names, of each the one of the nearest layer.
    pub(super) fn fold(&self) -> Folded {
        let mut folded = Folded::default();
        let (objects, profiles) = (&mut folded.objects, &mut folded.profiles);
        let mut networks = HashMap::new();
        for (id, layers) in &self.0 {
            let found = [Layer::Input, Layer::Cluster, Layer::Live]
                .into_iter()
                .find_map(|layer| Some((layer, layers.get(layer as usize)?.as_ref()?)));
            let Some((layer, fact)) = found else { continue };
            let facts: &mut Index = &mut objects.facts;
            match fact {
                Fact::Namespace(f) => drop(objects.namespaces.insert(id.name.clone(), Arc::clone(f))),
                Fact::Profile(f) => drop(profiles.insert(id.name.clone(), Arc::clone(f))),
                Fact::Network(f) => {
                    if id.kind != Kind::NetworkAttachmentDefinition {
                        facts.add_origin(id.kind, &id.namespace, &id.name, f);
                    }
                    // Who gives networks as facts of a cluster gives all of them: `kubectl get net-attach-def -A`.
                    folded.lists_networks |= layers.get(Layer::Cluster as usize).is_some_and(Option::is_some);
                    // Several objects may make one network. The nearest layer's counts, in it a definition before a
                    // CR, and of the rest the last by kind and name, whatever came first.
                    let rank = (layer, id.kind == Kind::NetworkAttachmentDefinition);
                    let best = networks.entry((&f.namespace, &f.name)).or_insert(rank);
                    if rank.cmp(best) != Ordering::Less {
                        *best = rank;
                        facts.add_network(f);
                    }
                }
                Fact::NodePolicy(f) => facts.add_node_policy(&id.namespace, &id.name, f),
                Fact::NodeState(f) => facts.add_node_state(&id.name, f),
                Fact::PoolConfig(f) => facts.add_pool_config(&id.namespace, &id.name, f),
                Fact::OperatorConfig(f) => facts.add_operator_config(&id.namespace, f),
                Fact::NicPolicy(f) => facts.add_nic_policy(f),
                Fact::Pools(f) => facts.add_pools(f),
                Fact::Texts(f) => facts.add_texts(&id.namespace, &id.name, f),
                Fact::DeviceClass(f) => facts.add_device_class(&id.name, f),
                Fact::DeviceClaim(f) if id.kind == Kind::ResourceClaim => {
                    facts.add_claim(&id.namespace, &id.name, f);
                }
                Fact::DeviceClaim(f) => facts.add_claim_template(&id.namespace, &id.name, f),
                Fact::ChannelTemplate(f) => facts.add_claim_template(&id.namespace, &f.name, &f.claim),
                Fact::AddressPool(f) => facts.add_address_pool(&id.name, f),
                Fact::Slice(f) => facts.add_slice(f),
                Fact::TrainingRuntime(f) => facts.add_training_runtime(&id.namespace, &id.name, f),
            }
        }
        folded.objects.facts.finish();
        folded
    }
}
