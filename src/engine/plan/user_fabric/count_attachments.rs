//! The attachments of a pod's annotation, by the device of each.

use crate::demands::Subject;
use crate::multus::{NetworkFact, Selection, Sharing};
use crate::plan::namespaces_of_usable_networks::serves_namespace;
use crate::plan::user_fabric_counts::{CountedNetwork, Over};
use crate::profile::Profile;
use crate::text::printable;
use std::collections::BTreeMap;

/// How an attachment relates to a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::plan) enum Kind {
    /// It is to one of the profile's networks.
    Rail,
    /// It takes a unit of a rail's resource through another network.
    StandIn,
    /// It takes a device of another resource.
    Foreign,
    /// It is a macvlan, ipvlan or IPoIB interface over a shared NIC.
    Child,
    /// Its network is not known, and the pod may not learn about it, or networks are not listed.
    Unknown,
    /// Its network is not among those of the cluster.
    Absent,
    /// It takes no device that counts here.
    Plain,
}

/// Every attachment, in the order of the annotation.
pub(in crate::plan) struct Attachments<'a> {
    items: Vec<Item<'a>>,
}

struct Item<'a> {
    selection: &'a Selection<'a>,
    kind: Kind,
    over: Over,
    /// The resource of the profile whose unit it takes.
    resource: Option<&'a str>,
}

impl<'a> Attachments<'a> {
    /// Reads the annotation of a pod.
    pub(in crate::plan) fn of(subject: &'a Subject<'a>, profile: &'a Profile) -> Self {
        let networks = subject.readable_networks();
        let items = networks.map(|n| n.items.as_slice()).unwrap_or_default();
        Self { items: items.iter().map(|selection| item(subject, profile, selection)).collect() }
    }

    /// Attachments of a kind (count).
    pub(in crate::plan) fn count(&self, kind: Kind) -> usize {
        self.items.iter().filter(|item| item.kind == kind).count()
    }

    /// Name of the first network of a kind.
    pub(super) fn first(&self, kind: Kind) -> Option<String> {
        self.items.iter().find(|item| item.kind == kind).map(|item| name(item.selection))
    }

    /// Resource of the first attachment of a kind.
    pub(super) fn resource_of(&self, kind: Kind) -> Option<String> {
        self.items.iter().find(|item| item.kind == kind).and_then(|item| match &item.over {
            Over::Resource(resource) => Some(resource.clone()),
            Over::NoDevice | Over::Unknown => None,
        })
    }

    /// Units that attachments take of the profile's resources, by resource.
    pub(super) fn taken(&self) -> BTreeMap<&'a str, i64> {
        let mut taken = BTreeMap::new();
        for resource in self.items.iter().filter_map(|item| item.resource) {
            *taken.entry(resource).or_default() += 1;
        }
        taken
    }

    /// Resources of the profile that attachments through other networks take, one per attachment.
    pub(super) fn stand_ins(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.items.iter().filter(|item| item.kind == Kind::StandIn).filter_map(|item| item.resource)
    }

    /// Every network once, in the order of the annotation.
    pub(super) fn networks(&self) -> Vec<CountedNetwork> {
        let mut found: Vec<CountedNetwork> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for item in &self.items {
            let name = name(item.selection);
            let next = found.len();
            let place = *places.entry(name.clone()).or_insert(next);
            match found.get_mut(place) {
                Some(known) => known.times += 1,
                None => found.push(CountedNetwork { name, times: 1, over: item.over.clone() }),
            }
        }
        found
    }
}

fn name(selection: &Selection<'_>) -> String {
    match &selection.namespace {
        Some(namespace) => printable(&format!("{namespace}/{}", selection.name), 127),
        None => printable(&selection.name, 63),
    }
}

fn item<'a>(subject: &'a Subject<'a>, profile: &'a Profile, selection: &'a Selection<'a>) -> Item<'a> {
    let namespace = selection.namespace.as_deref().unwrap_or(subject.namespace);
    if let Some(rail) = profile.rail_on(namespace, &selection.name, subject.namespace) {
        let resource = rail.resource.as_deref();
        let over = resource.map_or(Over::NoDevice, |name| Over::Resource(name.to_owned()));
        return Item { selection, kind: Kind::Rail, over, resource };
    }
    // Istio's CNI plugin rewrites the pod's traffic rules and attaches no NIC (istio/istio manifests/charts/istio-cni).
    if selection.name == "istio-cni" {
        return Item { selection, kind: Kind::Plain, over: Over::NoDevice, resource: None };
    }
    let Some(fact) = visible(subject, profile, namespace, &selection.name) else {
        let absent = subject.snapshot.lists_networks_of(namespace) && is_open(subject, profile, namespace);
        let kind = if absent { Kind::Absent } else { Kind::Unknown };
        return Item { selection, kind, over: Over::Unknown, resource: None };
    };
    if let Some(resource) = of_rails(profile, fact) {
        let over = Over::Resource(resource.to_owned());
        return Item { selection, kind: Kind::StandIn, over, resource: Some(resource) };
    }
    let child = matches!(fact.class.plugin.as_deref(), Some("macvlan" | "ipvlan" | "ipoib"));
    let device = fact.resource.as_ref().filter(|_| fact.takes_device != Some(false));
    // A function without RDMA, such as one for DPDK, carries no training traffic.
    let rdma = device.map(|name| {
        let of_name = name.full().and_then(|name| subject.snapshot.resource(name));
        of_name.and_then(|known| known.rdma) != Some(false)
    });
    let (kind, over) = match (child, device, rdma) {
        (true, ..) => (Kind::Child, Over::NoDevice),
        (_, Some(name), Some(true)) if fact.class.sharing != Some(Sharing::Shared) => {
            (Kind::Foreign, Over::Resource(name.to_string()))
        }
        (_, Some(name), _) => (Kind::Plain, Over::Resource(name.to_string())),
        _ => (Kind::Plain, Over::NoDevice),
    };
    Item { selection, kind, over, resource: None }
}

/// The resource of a rail of which a network's attachments take a unit.
pub(in crate::plan) fn of_rails<'p>(profile: &'p Profile, fact: &NetworkFact) -> Option<&'p str> {
    let resource = fact.resource.as_ref().filter(|_| fact.takes_device != Some(false))?;
    profile.rails.iter().filter_map(|rail| rail.resource.as_deref()).find(|name| resource.matches(name))
}

/// The known facts about a network that a plan may read: one of the pod's own namespace, of `default`, or of a
/// namespace that has rails of the profile. Networks of other namespaces count as unknown in any case: the pod may
/// not learn about them.
pub(in crate::plan) fn visible<'a>(
    subject: &'a Subject<'a>,
    profile: &Profile,
    namespace: &str,
    name: &str,
) -> Option<&'a NetworkFact> {
    subject.snapshot.network(namespace, name).filter(|_| is_open(subject, profile, namespace))
}

fn is_open(subject: &Subject<'_>, profile: &Profile, namespace: &str) -> bool {
    let of_rail = || profile.rails.iter().any(|rail| rail.network.namespace.as_deref() == Some(namespace));
    serves_namespace(subject.namespace, namespace) || of_rail()
}
