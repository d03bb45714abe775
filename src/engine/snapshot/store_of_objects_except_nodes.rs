//! What every object says, kept one by one, so that an object that changes or goes leaves no trace of what it was.

use super::memory_limit_per_namespace::MemoryPerNamespaceAndKind;
use super::nearest_layer_wins::{FactPerLayer, Layer, nearest};
use super::which_object_makes_network::NearestNetworks;
use super::{Objects, Settings};
use crate::facts::{Fact, FactKind, FactsOfAllObjects};
use crate::profile::Profile;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An object by kind and name; the namespace is empty for cluster-scoped kinds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Id {
    pub(super) kind: FactKind,
    pub(super) namespace: Arc<str>,
    pub(super) name: Arc<str>,
}

/// Profiles by name.
pub(super) type Profiles = BTreeMap<String, Arc<Profile>>;

/// Everything laid together.
#[derive(Debug, Default)]
pub(super) struct Folded {
    pub(super) objects: Objects,
    pub(super) profiles: Profiles,
}

#[derive(Debug, Clone, Default)]
struct Object {
    layers: FactPerLayer,
    /// What the fact of the live layer takes of its namespace's room.
    bytes: usize,
}

/// The room of a namespace is too small for an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Full;

/// How an object is counted.
#[derive(Debug, Clone, Copy)]
pub(super) enum MemoryLimitOfObject {
    /// It takes room of its namespace; the length of its JSON.
    Tenants(usize),
    /// It is not limited: it comes from a file, or from a namespace of an operator, or from the whole cluster.
    Free,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Store {
    objects: BTreeMap<Id, Object>,
    rooms: MemoryPerNamespaceAndKind,
}

/// Whether an object says something about more than its own namespace: about nodes and what device plugins serve, about
/// pools of addresses, or about a network in another namespace.
fn describes_cluster(kind: FactKind, namespace: &str, fact: &Fact) -> bool {
    let elsewhere = match fact {
        Fact::Network(network) => network.namespace != namespace,
        Fact::NodePolicy(_)
        | Fact::NodeState(_)
        | Fact::PoolConfig(_)
        | Fact::OperatorConfig(_)
        | Fact::Pools(_)
        | Fact::AddressPool(_) => true,
        // Looked up by their namespace.
        Fact::Texts(_) | Fact::DeviceClaim(_) | Fact::ChannelTemplate(_) | Fact::TrainingRuntime(_) => false,
        // Of kinds without a namespace.
        Fact::Namespace(_)
        | Fact::Profile(_)
        | Fact::NicPolicy(_)
        | Fact::DeviceClass(_)
        | Fact::Slice(_) => false,
    };
    kind.namespaced() && elsewhere
}

impl Store {
    /// Puts the fact of an object in place of the one before; `None` takes it away.
    /// Whether that changed anything.
    ///
    /// # Errors
    /// [`Full`] if the namespace has no room for the fact; the object then has none.
    pub(super) fn replace_or_leave_out_fact(
        &mut self,
        layer: Layer,
        mut id: Id,
        fact: Option<Fact>,
        counted: MemoryLimitOfObject,
    ) -> Result<bool, Full> {
        let known = self.objects.get(&id);
        // An equal fact is dropped: the Snapshot in use has the old one, and both would stay in memory.
        if known.and_then(|known| known.layers.get(layer as usize)?.as_ref()) == fact.as_ref() {
            return Ok(false);
        }
        let old = known.filter(|_| layer == Layer::Live).map_or(0, |known| known.bytes);
        let mut bytes = match (&fact, counted) {
            (Some(fact), MemoryLimitOfObject::Tenants(json)) => fact.estimated_memory(json) + id.name.len(),
            _ => 0,
        };
        let full = !self.rooms.fits(id.kind, &id.namespace, old, bytes);
        let fact = self.share_parts_with_previous(layer, &mut id, fact.filter(|_| !full));
        if full {
            bytes = 0;
            self.rooms.record_left_out(id.kind, &id.namespace);
        }
        if old != bytes {
            self.rooms.change_used_memory(id.kind, &id.namespace, old, bytes);
        }
        let object = self.objects.entry(id.clone()).or_default();
        if layer == Layer::Live {
            object.bytes = bytes;
        }
        if let Some(slot) = object.layers.get_mut(layer as usize) {
            *slot = fact;
        }
        if object.layers.iter().all(Option::is_none) {
            self.objects.remove(&id);
        }
        if full { Err(Full) } else { Ok(true) }
    }

    /// Notes that all objects of a kind were listed again, which shows what is left out now. Returns whether that changed
    /// anything.
    pub(super) fn forget_left_out_before_this_list(&mut self, kind: FactKind) -> bool {
        self.rooms.forget_left_out_before_this_list(kind)
    }

    /// Lets an object share what it has in common with the one before it by name: the namespace, and the devices of claims
    /// that were made from one template.
    fn share_parts_with_previous(&self, layer: Layer, id: &mut Id, fact: Option<Fact>) -> Option<Fact> {
        let before = self.objects.range(..&*id).next_back();
        let Some((known, object)) = before.filter(|(known, _)| known.kind == id.kind) else { return fact };
        if known.namespace == id.namespace {
            id.namespace = Arc::clone(&known.namespace);
        }
        match (fact, object.layers.get(layer as usize)) {
            (Some(Fact::DeviceClaim(own)), Some(Some(Fact::DeviceClaim(other)))) if own == *other => {
                Some(Fact::DeviceClaim(Arc::clone(other)))
            }
            (fact, _) => fact,
        }
    }

    /// Names of a kind's objects in a layer that are not to be kept.
    pub(super) fn ids_not_kept(
        &self,
        layer: Layer,
        kind: FactKind,
        kept: impl Fn(&str, &str) -> bool,
    ) -> Vec<Id> {
        let of_kind = self.objects.iter().filter(|(id, object)| {
            id.kind == kind && object.layers.get(layer as usize).is_some_and(Option::is_some)
        });
        of_kind.filter(|(id, _)| !kept(&id.namespace, &id.name)).map(|(id, _)| id.clone()).collect()
    }

    /// The view of everything that is there. It depends on what is there alone, not on how it came: objects are
    /// taken in the order of their names, of each the one of the nearest layer. An object that describes the cluster counts
    /// where the settings trust its namespace: a tenant may have the right to write one in the tenant's own.
    pub(super) fn fold_nearest_trusted_facts(&self, settings: &Settings) -> Folded {
        let mut folded = Folded::default();
        let (objects, profiles) = (&mut folded.objects, &mut folded.profiles);
        objects.left_out = self.rooms.left_out();
        let mut networks = NearestNetworks::default();
        let mut channels = Vec::new();
        for (id, Object { layers, .. }) in &self.objects {
            let Some((layer, fact)) = nearest(layers) else { continue };
            if describes_cluster(id.kind, &id.namespace, fact)
                && !settings.may_namespace_describe_cluster(&id.namespace)
            {
                *objects.ignored.entry(id.kind).or_default() += 1;
                continue;
            }
            let facts: &mut FactsOfAllObjects = &mut objects.facts;
            match fact {
                Fact::Namespace(f) => drop(objects.namespaces.insert(id.name.to_string(), Arc::clone(f))),
                Fact::Profile(f) => drop(profiles.insert(id.name.to_string(), Arc::clone(f))),
                Fact::Network(f) => {
                    if id.kind != FactKind::NetworkAttachmentDefinition {
                        facts.add_object_network_is_rendered_from(id.kind, &id.namespace, &id.name, f);
                    }
                    if layers.get(Layer::Cluster as usize).is_some_and(Option::is_some) {
                        objects.networks_in.insert(f.namespace.clone());
                    }
                    if networks.record_if_it_makes_the_network(f, layer, id.kind) {
                        facts.add_network(f);
                    }
                }
                Fact::NodePolicy(f) => facts.add_node_policy(&id.namespace, &id.name, f),
                Fact::NodeState(f) => facts.add_node_state(&id.name, f),
                Fact::PoolConfig(f) => facts.add_pool_config(&id.namespace, &id.name, f),
                Fact::OperatorConfig(f) => facts.add_operator_config(&id.namespace, f),
                Fact::NicPolicy(f) => facts.add_resources_and_driver_of_nic_policy(f),
                Fact::Pools(f) => facts.add_resources_of_device_plugins(f),
                Fact::Texts(f) => facts.add_config_map_texts(&id.namespace, &id.name, f),
                Fact::DeviceClass(f) => facts.add_device_class_and_its_resources(&id.name, f),
                Fact::DeviceClaim(f) if id.kind == FactKind::ResourceClaim => {
                    facts.add_claim_and_networks_it_attaches(&id.namespace, &id.name, f);
                }
                Fact::DeviceClaim(f) => {
                    facts.add_claim_template_and_networks_it_attaches(&id.namespace, &id.name, f)
                }
                Fact::ChannelTemplate(f) => channels.push((&id.namespace, f)),
                Fact::AddressPool(f) => facts.add_address_pool_or_mark_conflict(&id.name, f),
                Fact::Slice(f) => facts.note_sriov_driver_and_add_slice_unless_outdated(f),
                Fact::TrainingRuntime(f) => facts.add_training_runtime(&id.namespace, &id.name, f),
            }
        }
        // They stand in for templates that are not there yet. Where some templates are not kept, this one may be among them,
        // and be for other devices: tenants write ComputeDomains.
        for (namespace, channel) in channels {
            if !objects.leaves_out(FactKind::ResourceClaimTemplate, namespace)
                && objects.facts.namespaced.claim_template(namespace, &channel.name).is_none()
            {
                let name = channel.name.as_str().into();
                objects.facts.add_claim_template_and_networks_it_attaches(namespace, &name, &channel.claim);
            }
        }
        objects.facts.build_lookups_after_all_added();
        folded
    }
}
