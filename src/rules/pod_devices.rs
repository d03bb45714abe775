//! Joins a pod's networks and devices with the facts.

use super::devices::{Attached, Devices, Held, Item, Known, Need};
use super::pod::PodContext;
use crate::facts::{NetworkClass, ResourceFact, Server};
use crate::multus::ResourceName;
use crate::plan::{Edit, ResourceList};
use crate::pod::units::{Holder, units};
use crate::snapshot::Snapshot;
use crate::text::printable;
use std::collections::{BTreeMap, HashMap};

impl<'a> PodContext<'a> {
    /// Its networks and devices with what is known of them.
    pub(crate) fn devices(&self) -> &Devices<'a> {
        self.devices.get_or_init(|| Devices::of(self))
    }
}

/// The part of a resource's name behind its prefix.
fn suffix(name: &str) -> &str {
    name.split_once('/').map_or(name, |(_, suffix)| suffix)
}

/// What a name of a resource is to the pod.
struct Slot<'a> {
    fact: Option<&'a ResourceFact>,
    held: Option<usize>,
    needs: Vec<usize>,
    namesakes: Vec<usize>,
}

impl<'a> Devices<'a> {
    pub(super) fn of(context: &PodContext<'a>) -> Self {
        let mut devices = Self::default();
        devices.read_networks(context);
        if !devices.needs.is_empty() || context.snapshot.facts().has_resources() {
            devices.walk(context);
        }
        let shared = devices.held.iter().filter(|h| h.fact.server == Server::SharedDevicePlugin);
        let shared: Vec<&str> = shared.map(|h| h.name).collect();
        for network in &mut devices.networks {
            if let Some(known) = &mut network.known {
                known.class = context.snapshot.facts().classify(known.fact, &mut shared.iter().copied());
            }
        }
        devices
    }

    fn read_networks(&mut self, context: &PodContext<'a>) {
        let Some(Ok(networks)) = context.final_networks else { return };
        let profile = context.resolution.profile().map(|(p, _)| p);
        let mut places: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for selection in &networks.items {
            let namespace = selection.namespace.as_deref().unwrap_or(context.namespace);
            let name: &'a str = &selection.name;
            let next = self.networks.len();
            let network = *places.entry((name, namespace)).or_insert(next);
            self.items.push(Item { selection, network });
            match self.networks.get_mut(network) {
                Some(known) => known.times += 1,
                None => self.networks.push(Attached { namespace, name, times: 1, known: None }),
            }
        }
        let mut needs: BTreeMap<String, Need<'_>> = BTreeMap::new();
        for network in &mut self.networks {
            let (namespace, name) = (network.namespace, network.name);
            let rail = profile.and_then(|p| p.rail_on(namespace, name, context.namespace));
            let of_profile = rail.and_then(|r| r.resource.as_deref());
            // A tenant learns nothing here of networks in other namespaces that its profile does not name.
            let told = !context.tenant_view || namespace == context.namespace || rail.is_some();
            let fact = context.snapshot.network(namespace, name).filter(|_| told);
            network.known = fact.map(|fact| Known { fact, class: NetworkClass::default() });
            let (resource, takes_device, own_device) = match fact {
                Some(fact) => (fact.resource.clone(), fact.takes_device, fact.own_device),
                None => (of_profile.map(|r| ResourceName::Full(r.to_owned())), Some(true), false),
            };
            let Some(resource) = resource.filter(|_| takes_device != Some(false)) else { continue };
            let shown = printable(&resource.to_string(), 100);
            let need = needs.entry(shown.clone()).or_insert_with(|| Need {
                shown,
                resource,
                attachments: 0,
                certain_attachments: 0,
                known: true,
                holders: Vec::new(),
                namesake: None,
            });
            need.attachments += network.times;
            let takes = takes_device == Some(true);
            need.certain_attachments += if takes && !own_device { network.times } else { 0 };
            need.known &= takes;
        }
        self.needs = needs.into_values().collect();
    }

    fn walk(&mut self, context: &PodContext<'a>) {
        let mut finder = Finder::of(&self.needs, context);
        for (holder, container) in context.pod().holders() {
            let edits = match holder {
                Holder::App(index) => context.plan.of_container(index),
                Holder::Sidecar(_) | Holder::Init(_) => &[],
            };
            let planned = || {
                edits.iter().filter_map(|change| match &change.edit {
                    Edit::Quantity { list: ResourceList::Limits, name, units, present, .. } => {
                        Some((name.as_str(), *units, *present))
                    }
                    _ => None,
                })
            };
            container.each_quantity(&mut |name, quantity| {
                let of_plan = planned().find(|(planned, ..)| *planned == name).map(|(_, units, _)| units);
                self.take(finder.slot(name), holder, name, &|| of_plan.unwrap_or_else(|| units(quantity)));
            });
            for (name, units, _) in planned().filter(|(.., present)| !present) {
                self.take(finder.slot(name), holder, name, &|| units);
            }
        }
    }

    fn take(&mut self, slot: &mut Slot<'a>, holder: Holder, name: &'a str, amount: &dyn Fn() -> i64) {
        if slot.fact.is_none() && slot.needs.is_empty() && slot.namesakes.is_empty() {
            return;
        }
        let units = amount();
        if units <= 0 {
            return;
        }
        for at in &slot.needs {
            if let Some(need) = self.needs.get_mut(*at) {
                need.holders.push((holder, name, units));
            }
        }
        for at in &slot.namesakes {
            if let Some(need) = self.needs.get_mut(*at).filter(|_| holder.runs()) {
                need.namesake.get_or_insert(name);
            }
        }
        let Some(fact) = slot.fact.filter(|_| holder.runs()) else { return };
        let at = *slot.held.get_or_insert_with(|| {
            self.held.push(Held { name, fact, holders: Vec::new() });
            self.held.len() - 1
        });
        if let Some(held) = self.held.get_mut(at) {
            held.holders.push((holder, units));
        }
    }
}

/// Finds what a resource's name is to the pod, by the name at first and by memory then.
struct Finder<'a> {
    snapshot: &'a Snapshot,
    resources: Vec<ResourceName>,
    by_suffix: BTreeMap<String, Vec<usize>>,
    slots: HashMap<&'a str, Slot<'a>>,
}

impl<'a> Finder<'a> {
    fn of(needs: &[Need<'a>], context: &PodContext<'a>) -> Self {
        let resources: Vec<ResourceName> = needs.iter().map(|n| n.resource.clone()).collect();
        let mut by_suffix: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, resource) in resources.iter().enumerate() {
            let end = match resource {
                ResourceName::Full(name) => suffix(name),
                ResourceName::Suffix(name) => name,
            };
            by_suffix.entry(end.to_owned()).or_default().push(at);
        }
        Self { snapshot: context.snapshot, resources, by_suffix, slots: HashMap::new() }
    }

    fn slot(&mut self, name: &'a str) -> &mut Slot<'a> {
        let Self { snapshot, resources, by_suffix, slots } = self;
        slots.entry(name).or_insert_with(|| {
            let near = by_suffix.get(suffix(name)).map(Vec::as_slice).unwrap_or_default();
            let is_it = |at: &usize| resources.get(*at).is_some_and(|r| r.matches(name));
            let (needs, namesakes) = near.iter().copied().partition(is_it);
            Slot { fact: snapshot.resource(name), held: None, needs, namesakes }
        })
    }
}
