//! The attachments of a pod's annotation, by the device of each.

use crate::demands::Subject;
use crate::multus::{NetworkFact, RequestedAttachment, Sharing};
use crate::plan::own_or_default_namespace::is_own_or_default_namespace;
use crate::plan::user_fabric_counts::{CountedNetwork, DeviceOfAttachment};
use crate::profile::Profile;
use crate::text::escaped_and_cut;
use std::collections::BTreeMap;

/// How an attachment relates to a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::plan) enum AttachmentKind {
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
    selection: &'a RequestedAttachment<'a>,
    kind: AttachmentKind,
    over: DeviceOfAttachment,
    /// The resource of the profile whose unit it takes.
    resource: Option<&'a str>,
}

impl<'a> Attachments<'a> {
    /// Reads the annotation of a pod.
    pub(in crate::plan) fn classify_attachments(subject: &'a Subject<'a>, profile: &'a Profile) -> Self {
        let networks = subject.readable_networks();
        let items = networks.map(|n| n.items.as_slice()).unwrap_or_default();
        Self {
            items: items.iter().map(|selection| classify_attachment(subject, profile, selection)).collect(),
        }
    }

    /// Attachments of a kind (count).
    pub(in crate::plan) fn count(&self, kind: AttachmentKind) -> usize {
        self.items.iter().filter(|item| item.kind == kind).count()
    }

    /// Name of the first network of a kind.
    pub(super) fn first_network_of_kind(&self, kind: AttachmentKind) -> Option<String> {
        self.items.iter().find(|item| item.kind == kind).map(|item| name(item.selection))
    }

    /// Resource of the first attachment of a kind.
    pub(super) fn resource_of(&self, kind: AttachmentKind) -> Option<String> {
        self.items.iter().find(|item| item.kind == kind).and_then(|item| match &item.over {
            DeviceOfAttachment::Resource(resource) => Some(resource.clone()),
            DeviceOfAttachment::NoDevice | DeviceOfAttachment::Unknown => None,
        })
    }

    /// Units that attachments take of the profile's resources, by resource.
    pub(super) fn profile_units_taken(&self) -> BTreeMap<&'a str, i64> {
        let mut taken = BTreeMap::new();
        for resource in self.items.iter().filter_map(|item| item.resource) {
            *taken.entry(resource).or_default() += 1;
        }
        taken
    }

    /// Resources of the profile that attachments through other networks take, one per attachment.
    pub(super) fn resources_of_stand_ins(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.items.iter().filter(|item| item.kind == AttachmentKind::StandIn).filter_map(|item| item.resource)
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

fn name(selection: &RequestedAttachment<'_>) -> String {
    match &selection.namespace {
        Some(namespace) => escaped_and_cut(&format!("{namespace}/{}", selection.name), 127),
        None => escaped_and_cut(&selection.name, 63),
    }
}

fn classify_attachment<'a>(
    subject: &'a Subject<'a>,
    profile: &'a Profile,
    selection: &'a RequestedAttachment<'a>,
) -> Item<'a> {
    let namespace = selection.namespace.as_deref().unwrap_or(subject.namespace);
    if let Some(rail) = profile.first_rail_on_network(namespace, &selection.name, subject.namespace) {
        let resource = rail.resource.as_deref();
        let over = resource
            .map_or(DeviceOfAttachment::NoDevice, |name| DeviceOfAttachment::Resource(name.to_owned()));
        return Item { selection, kind: AttachmentKind::Rail, over, resource };
    }
    // Istio's CNI plugin rewrites the pod's traffic rules and attaches no NIC (istio/istio manifests/charts/istio-cni).
    if selection.name == "istio-cni" {
        return Item {
            selection,
            kind: AttachmentKind::Plain,
            over: DeviceOfAttachment::NoDevice,
            resource: None,
        };
    }
    let Some(fact) = network_that_plan_may_read(subject, profile, namespace, &selection.name) else {
        let absent = subject.snapshot.knows_all_networks_of(namespace)
            && may_plan_read_networks_of(subject, profile, namespace);
        let kind = if absent { AttachmentKind::Absent } else { AttachmentKind::Unknown };
        return Item { selection, kind, over: DeviceOfAttachment::Unknown, resource: None };
    };
    if let Some(resource) = rail_resource_that_network_takes(profile, fact) {
        let over = DeviceOfAttachment::Resource(resource.to_owned());
        return Item { selection, kind: AttachmentKind::StandIn, over, resource: Some(resource) };
    }
    let child = matches!(fact.class.plugin.as_deref(), Some("macvlan" | "ipvlan" | "ipoib"));
    let device = fact.resource.as_ref().filter(|_| fact.takes_device != Some(false));
    // A function without RDMA, such as one for DPDK, carries no training traffic.
    let rdma = device.map(|name| {
        let of_name = name.full_if_known().and_then(|name| subject.snapshot.resource(name));
        of_name.and_then(|known| known.rdma) != Some(false)
    });
    let (kind, over) = match (child, device, rdma) {
        (true, ..) => (AttachmentKind::Child, DeviceOfAttachment::NoDevice),
        (_, Some(name), Some(true)) if fact.class.sharing != Some(Sharing::Shared) => {
            (AttachmentKind::Foreign, DeviceOfAttachment::Resource(name.to_string()))
        }
        (_, Some(name), _) => (AttachmentKind::Plain, DeviceOfAttachment::Resource(name.to_string())),
        _ => (AttachmentKind::Plain, DeviceOfAttachment::NoDevice),
    };
    Item { selection, kind, over, resource: None }
}

/// The resource of a rail of which a network's attachments take a unit.
pub(in crate::plan) fn rail_resource_that_network_takes<'p>(
    profile: &'p Profile,
    fact: &NetworkFact,
) -> Option<&'p str> {
    let resource = fact.resource.as_ref().filter(|_| fact.takes_device != Some(false))?;
    profile.rails.iter().filter_map(|rail| rail.resource.as_deref()).find(|name| resource.matches(name))
}

/// The known facts about a network that a plan may read: one of the pod's own namespace, of `default`, or of a
/// namespace that has rails of the profile. Networks of other namespaces count as unknown in any case: the pod may
/// not learn about them.
pub(in crate::plan) fn network_that_plan_may_read<'a>(
    subject: &'a Subject<'a>,
    profile: &Profile,
    namespace: &str,
    name: &str,
) -> Option<&'a NetworkFact> {
    subject
        .snapshot
        .network(namespace, name)
        .filter(|_| may_plan_read_networks_of(subject, profile, namespace))
}

fn may_plan_read_networks_of(subject: &Subject<'_>, profile: &Profile, namespace: &str) -> bool {
    let of_rail = || profile.rails.iter().any(|rail| rail.network.namespace.as_deref() == Some(namespace));
    is_own_or_default_namespace(subject.namespace, namespace) || of_rail()
}
