//! The devices that the pod's networks need and its containers request, joined with the facts: once for all rules, in one
//! walk over the containers. A pod may have thousands of containers and of networks.

use crate::demands::Subject;
use crate::facts::{ResolvedNetwork, ResourceFact, ResourceProvider};
use crate::multus::{AnnotationError, NetworkFact, RequestedAttachment, RequestedNetworks, ResourceRef};
use crate::plan::{Edit, Plan, ResourceList};
use crate::pod::containers_and_their_resources::{ContainerPlace, units_or_zero};
use crate::profile::Profile;
use crate::snapshot::Snapshot;
use crate::text::{escaped_and_cut, is_ascii_and_short};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Networks and devices of one pod, with the plan laid over it.
#[derive(Debug, Default)]
pub(crate) struct NetworksAndDevices<'a> {
    /// Items of the annotation, in order.
    pub(super) items: Vec<AnnotationItem<'a>>,
    /// Networks of the annotation, each once.
    pub(super) networks: Vec<NetworkOfPod<'a>>,
    /// Resources that the networks take, by name.
    pub(super) needs: Vec<ResourceOfNetworks<'a>>,
    /// Known resources that containers request.
    pub(super) held: Vec<HeldResource<'a>>,
}

/// An item of the annotation.
#[derive(Debug)]
pub(super) struct AnnotationItem<'a> {
    /// As the pod writes it.
    pub(super) selection: &'a RequestedAttachment<'a>,
    /// Its network, by the place in the list of networks.
    pub(super) network: usize,
}

/// A network of the annotation.
#[derive(Debug)]
pub(super) struct NetworkOfPod<'a> {
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
    /// How often it is named.
    pub(super) times: i64,
    /// How often with a device of the pod's own choice (`deviceID`).
    pub(super) times_with_device: i64,
    /// Known facts about it. `None` also where the audience may not know it.
    pub(super) known: Option<KnownNetwork<'a>>,
}

/// Known facts about a network.
#[derive(Debug, Clone, Copy)]
pub(super) struct KnownNetwork<'a> {
    pub(super) fact: &'a NetworkFact,
    pub(super) class: ResolvedNetwork<'a>,
}

/// Attachments that take units of one resource.
#[derive(Debug)]
pub(super) struct ResourceOfNetworks<'a> {
    /// The resource as messages name it.
    pub(super) shown: Cow<'a, str>,
    pub(super) resource: ResourceRef<'a>,
    pub(super) attachments: i64,
    /// Those of them that have no device without a unit: the pod chooses none that reaches the plugin.
    pub(super) attachments_without_device: i64,
    /// Those of them that fail without a unit: of a plugin that is known to take one, and without a device of their own.
    pub(super) certain_attachments: i64,
    /// Whether every one of them is known to take a unit where there is one.
    pub(super) known: bool,
    /// Who holds how much of it, under which name.
    pub(super) holders: Vec<(ContainerPlace, &'a str, i64)>,
    /// A resource of the same name behind another prefix that a container holds.
    pub(super) namesake: Option<&'a str>,
}

/// A resource that containers hold.
#[derive(Debug)]
pub(super) struct HeldResource<'a> {
    pub(super) name: &'a str,
    pub(super) fact: &'a ResourceFact,
    /// Those that run beside one another, and how much each holds; never empty, never 0.
    pub(super) holders: Vec<(ContainerPlace, i64)>,
}

impl NetworkOfPod<'_> {
    /// Namespace and name, for messages.
    pub(super) fn describe(&self) -> String {
        format!("{}/{}", self.namespace, escaped_and_cut(self.name, 63))
    }
}

impl ResourceOfNetworks<'_> {
    /// Units that Multus can hand out: those of app containers and native sidecars.
    pub(super) fn units_of_running_containers(&self) -> i64 {
        let running = self.holders.iter().filter(|(holder, ..)| holder.is_app_or_sidecar());
        running.fold(0, |sum, (_, _, units)| sum.saturating_add(*units))
    }
}

impl HeldResource<'_> {
    /// JSON pointer of the quantity of its first holder.
    pub(super) fn pointer_of_first_holder(&self) -> String {
        let holder = self.holders.first().map(|(holder, _)| holder.json_pointer()).unwrap_or_default();
        format!("{holder}/resources/limits/{}", crate::text::json_pointer_token(self.name))
    }
}

/// The resources of the pod's networks, to look names up in: full ones, and endings behind whatever prefix.
#[derive(Debug, Default)]
pub(super) struct ResourceNamesOfNetworks<'n> {
    full: HashSet<&'n str>,
    endings: HashSet<&'n str>,
}

impl<'n> ResourceNamesOfNetworks<'n> {
    pub(super) fn of(needs: &'n [ResourceOfNetworks<'_>]) -> Self {
        let mut needed = Self::default();
        for need in needs {
            match need.resource {
                ResourceRef::Full(name) => drop(needed.full.insert(name)),
                ResourceRef::Suffix(name) => drop(needed.endings.insert(name)),
            }
        }
        needed
    }

    /// Whether a resource of the networks has this name.
    pub(super) fn has(&self, name: &str) -> bool {
        let behind = || name.split_once('/').is_some_and(|(_, ending)| self.endings.contains(ending));
        self.full.contains(name) || behind()
    }
}

/// The part of a resource's name behind its prefix.
fn suffix(name: &str) -> &str {
    name.split_once('/').map_or(name, |(_, suffix)| suffix)
}

/// The place of a resource's name among the pod's needs and devices.
struct RoleOfResourceName<'a> {
    fact: Option<&'a ResourceFact>,
    held: Option<usize>,
    needs: Vec<usize>,
    /// The needs that end in the same name, by their place, where there are any.
    ending: Option<usize>,
}

/// The first two resources of an ending that containers hold: a need's namesake is the first of them that is not its own.
/// A list of namesakes for each name would grow with the networks times the names.
type FirstTwo<'a> = [Option<&'a str>; 2];

/// What the devices of a pod are found from.
#[derive(Debug, Clone, Copy)]
pub(super) struct DeviceSources<'a> {
    /// Known facts about the pod.
    pub(super) subject: &'a Subject<'a>,
    /// Its plan.
    pub(super) plan: &'a Plan,
    /// Its networks, with the plan laid over them.
    pub(super) networks: Option<&'a Result<RequestedNetworks<'a>, AnnotationError>>,
    /// Its profile, where one is found.
    pub(super) profile: Option<&'a Profile>,
}

impl<'a> NetworksAndDevices<'a> {
    pub(super) fn of(sources: DeviceSources<'a>) -> Self {
        let mut devices = Self::default();
        devices.add_networks_and_their_needs(sources);
        if !devices.needs.is_empty() || sources.subject.snapshot.cluster_facts_for_audience().has_resources()
        {
            devices.add_units_held_by_containers(sources);
        }
        let shared = devices.held.iter().filter(|h| h.fact.server == ResourceProvider::SharedDevicePlugin);
        // A network takes the first of them.
        let shared = shared.map(|h| h.name).next();
        for network in devices.networks.iter_mut().take_while(|_| !sources.subject.deadline.is_over()) {
            if let Some(known) = &mut network.known {
                let snapshot = sources.subject.snapshot;
                known.class =
                    snapshot.network_class_for_pod(network.namespace, known.fact, &mut shared.into_iter());
            }
        }
        devices
    }

    fn add_networks_and_their_needs(&mut self, sources: DeviceSources<'a>) {
        let Some(Ok(networks)) = sources.networks else { return };
        let profile = sources.profile;
        let mut places: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        self.items.reserve_exact(networks.items.len());
        for selection in networks.items.iter().take_while(|_| !sources.subject.deadline.is_over()) {
            let namespace = selection.namespace.as_deref().unwrap_or(sources.subject.namespace);
            let name: &'a str = &selection.name;
            let next = self.networks.len();
            let network = *places.entry((name, namespace)).or_insert(next);
            self.items.push(AnnotationItem { selection, network });
            let device = i64::from(selection.requests.as_ref().is_some_and(|r| r.device.is_some()));
            match self.networks.get_mut(network) {
                Some(known) => {
                    known.times += 1;
                    known.times_with_device += device;
                }
                None => self.networks.push(NetworkOfPod {
                    namespace,
                    name,
                    times: 1,
                    times_with_device: device,
                    known: None,
                }),
            }
        }
        let mut needs: BTreeMap<Cow<'_, str>, ResourceOfNetworks<'_>> = BTreeMap::new();
        for network in &mut self.networks {
            let (namespace, name) = (network.namespace, network.name);
            let rail =
                profile.and_then(|p| p.first_rail_on_network(namespace, name, sources.subject.namespace));
            let of_profile = rail.and_then(|r| r.resource.as_deref());
            let fact = sources.subject.snapshot.network(namespace, name);
            network.known = fact.map(|fact| KnownNetwork { fact, class: ResolvedNetwork::default() });
            let (resource, takes_device, own_device) = match fact {
                Some(fact) => {
                    (fact.resource.as_ref().map(|r| r.borrowed()), fact.takes_device, fact.own_device)
                }
                None => (of_profile.map(ResourceRef::Full), Some(true), false),
            };
            let Some(resource) = resource.filter(|_| takes_device != Some(false)) else { continue };
            let shown = match resource {
                ResourceRef::Full(name) if is_ascii_and_short(name, 100) => Cow::Borrowed(name),
                other => Cow::Owned(escaped_and_cut(&other.to_string(), 100)),
            };
            let need = needs.entry(shown.clone()).or_insert_with(|| ResourceOfNetworks {
                shown,
                resource,
                attachments: 0,
                attachments_without_device: 0,
                certain_attachments: 0,
                known: true,
                holders: Vec::new(),
                namesake: None,
            });
            // host-device reads deviceID of the annotation, if its configuration declares the capability
            // (containernetworking/plugins plugins/main/host-device; multus-cni pkg/types/conf.go). Other plugins do not.
            let host_device = fact.filter(|f| f.class.plugin.as_deref() == Some("host-device"));
            let chosen = if host_device.is_some() { network.times_with_device } else { 0 };
            let passed = host_device.is_some_and(|f| f.addressing.capabilities.device);
            need.attachments += network.times;
            need.attachments_without_device += network.times - if passed { chosen } else { 0 };
            let takes = takes_device == Some(true);
            need.certain_attachments += if takes && !own_device { network.times - chosen } else { 0 };
            need.known &= takes;
        }
        self.needs = needs.into_values().collect();
    }

    fn add_units_held_by_containers(&mut self, sources: DeviceSources<'a>) {
        let mut finder = Finder::of(&self.needs, sources.subject.snapshot);
        for (holder, container) in sources.subject.pod.containers_not_added_by_webhook() {
            let edits = match holder {
                ContainerPlace::App(index) => sources.plan.changes_of_container(index),
                ContainerPlace::Sidecar(_) | ContainerPlace::Init(_) => &[],
            };
            let planned = || {
                edits.iter().filter_map(|change| match &change.edit {
                    Edit::Quantity { list: ResourceList::Limits, name, units, present, .. } => {
                        Some((name.as_str(), *units, *present))
                    }
                    _ => None,
                })
            };
            container.for_each_resource_quantity(&mut |name, quantity| {
                let of_plan = planned().find(|(planned, ..)| *planned == name).map(|(_, units, _)| units);
                let amount = || of_plan.unwrap_or_else(|| units_or_zero(quantity));
                self.add_amount_of_resource(&mut finder, holder, name, &amount);
            });
            for (name, units, _) in planned().filter(|(.., present)| !present) {
                self.add_amount_of_resource(&mut finder, holder, name, &|| units);
            }
        }
        for (at, ending) in finder.full {
            let held = finder.held.get(ending).into_iter().flatten().flatten();
            if let Some(need) = self.needs.get_mut(at) {
                need.namesake = held.copied().find(|name| !need.resource.matches(name));
            }
        }
    }

    fn add_amount_of_resource(
        &mut self,
        finder: &mut Finder<'a>,
        holder: ContainerPlace,
        name: &'a str,
        amount: &dyn Fn() -> i64,
    ) {
        let (slot, held) = finder.slot_of_name(name);
        if slot.fact.is_none() && slot.needs.is_empty() && slot.ending.is_none() {
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
        if let Some([first, second]) =
            slot.ending.filter(|_| holder.is_app_or_sidecar()).and_then(|at| held.get_mut(at))
            && *first.get_or_insert(name) != name
        {
            second.get_or_insert(name);
        }
        let Some(fact) = slot.fact.filter(|_| holder.is_app_or_sidecar()) else { return };
        let at = *slot.held.get_or_insert_with(|| {
            self.held.push(HeldResource { name, fact, holders: Vec::new() });
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
    by_name: HashMap<&'a str, usize>,
    by_suffix: HashMap<&'a str, usize>,
    /// Needs with a full name, each with its ending.
    full: Vec<(usize, usize)>,
    /// Endings of needs.
    endings: HashMap<&'a str, usize>,
    held: Vec<FirstTwo<'a>>,
    slots: HashMap<&'a str, RoleOfResourceName<'a>>,
}

impl<'a> Finder<'a> {
    fn of(needs: &[ResourceOfNetworks<'a>], snapshot: &'a Snapshot) -> Self {
        let mut finder = Self {
            snapshot,
            by_name: HashMap::new(),
            by_suffix: HashMap::new(),
            full: Vec::new(),
            endings: HashMap::new(),
            held: Vec::new(),
            slots: HashMap::new(),
        };
        for (at, need) in needs.iter().enumerate() {
            match need.resource {
                // Behind whatever prefix, it is the resource itself.
                ResourceRef::Suffix(name) => drop(finder.by_suffix.insert(name, at)),
                ResourceRef::Full(name) => {
                    finder.by_name.insert(name, at);
                    let next = finder.held.len();
                    let ending = *finder.endings.entry(suffix(name)).or_insert(next);
                    if ending == next {
                        finder.held.push([None; 2]);
                    }
                    finder.full.push((at, ending));
                }
            }
        }
        finder
    }

    /// What a name is to the pod, and the resources of each ending.
    fn slot_of_name(&mut self, name: &'a str) -> (&mut RoleOfResourceName<'a>, &mut [FirstTwo<'a>]) {
        let Self { snapshot, by_name, by_suffix, endings, held, slots, .. } = self;
        let slot = slots.entry(name).or_insert_with(|| {
            let end = suffix(name);
            let behind = name.contains('/').then(|| by_suffix.get(end)).flatten();
            let needs = by_name.get(name).into_iter().chain(behind).copied().collect();
            let ending = endings.get(end).copied();
            RoleOfResourceName { fact: snapshot.resource(name), held: None, needs, ending }
        });
        (slot, held)
    }
}
