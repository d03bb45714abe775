//! The networks annotation: the profile's rails merged with the pod's own networks.

use super::own_or_default_namespace::is_own_or_default_namespace;
use super::planned_attachment::Attachment;
use super::user_fabric::{network_that_plan_may_read, rail_resource_that_network_takes};
use super::which_rails_pod_gets::{RailsToAdd, rails_to_add};
use super::{Change, Edit, OwnFieldKept, RAILS_ANNOTATION};
use crate::demands::Subject;
use crate::multus::facts_of_network::is_extended_resource;
use crate::multus::{RequestedAttachment, RequestedNetworks};
use crate::profile::schema::Inject;
use crate::profile::{Profile, Rail};
use crate::resolve::Evidence;
use crate::text::{Count, format_with_capacity};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The attachments of a pod once its rails are added.
pub(super) struct PlannedNetworks<'a> {
    /// Each of them, in the order of the final annotation.
    pub(super) attached: Vec<Attachment<'a>>,
    /// Interfaces of the profile's rails that the pod does not get.
    pub(super) unused_interfaces: Vec<String>,
    /// The annotation, where it changes.
    pub(super) change: Option<Change>,
    /// Rails that the pod has no devices for, if there are any.
    pub(super) kept: Option<OwnFieldKept>,
}

/// The attachments of the pod. `complete`: its own ones stand for all of the rails.
pub(super) fn plan_networks_annotation<'a>(
    subject: &'a Subject<'a>,
    profile: &'a Profile,
    rails: &[Rail],
    evidence: &Evidence,
    room: BTreeMap<String, i64>,
    complete: bool,
) -> PlannedNetworks<'a> {
    let existing: Option<&RequestedNetworks<'_>> = subject.readable_networks();
    let items: &[RequestedAttachment<'_>] = existing.map(|n| n.items.as_slice()).unwrap_or_default();
    let RailsToAdd { missing, have } = rails_to_add(subject, profile, rails, items, room, complete);
    let left_out = if complete { 0 } else { rails.len() - have - missing.len() };
    // A rail keeps its own interface; if the user gave that name to another network, the rail gets a name that no
    // rail has.
    let taken: BTreeSet<&str> = items.iter().filter_map(|i| i.interface.as_deref()).collect();
    let mut spare = (profile.rails.len()..)
        .map(|n| format!("rail{n}"))
        .filter(|name| !taken.contains(name.as_str()) && profile.rails.iter().all(|r| r.interface != *name));
    let added: Vec<RequestedAttachment<'_>> = missing
        .iter()
        .map(|rail| RequestedAttachment {
            namespace: rail.network.namespace.as_deref().map(Cow::Borrowed),
            name: Cow::Borrowed(&rail.network.name),
            interface: if taken.contains(rail.interface.as_str()) {
                spare.next().map(Cow::Owned)
            } else {
                Some(Cow::Borrowed(rail.interface.as_str()))
            },
            requests: None,
        })
        .collect();
    let networks = || items.iter().chain(&added);
    let attached: Vec<Attachment<'a>> =
        networks().map(|item| resource_that_attachment_takes(subject, profile, item, complete)).collect();
    let is_rail = |item: &&RequestedAttachment<'_>| {
        let namespace = item.namespace.as_deref().unwrap_or(subject.namespace);
        profile.inject == Inject::Networks
            || profile.first_rail_on_network(namespace, &item.name, subject.namespace).is_some()
    };
    let on_rails = networks().filter(is_rail);
    let mut there: Vec<&str> = Vec::with_capacity(items.len() + added.len());
    there.extend(on_rails.filter_map(|item| item.interface.as_deref()));
    there.sort_unstable();
    let is_there = |name: &str| there.binary_search(&name).is_ok();
    let unused = profile.rails.iter().map(|r| &r.interface).filter(|name| !is_there(name));
    let unused_interfaces = unused.cloned().collect();
    let kept = (left_out > 0).then_some(OwnFieldKept::Rails { left_out, rails: rails.len() });
    if missing.is_empty() {
        return PlannedNetworks { attached, unused_interfaces, change: None, kept };
    }
    let value = existing.map_or_else(|| short(&added), |n| n.annotation_with_added(&added));
    let subset = subject.pod.annotation(RAILS_ANNOTATION).map(|subset| format!(" of subset {subset}"));
    let (count, of_subset) = (Count(rails.len(), "rail"), subset.as_deref().unwrap_or_default());
    let whole = format_args!("{count}{of_subset} of profile {}", profile.name);
    let reason = if left_out > 0 {
        let devices = Count(rails.len() - left_out, "rail");
        format!("the pod requests devices for {devices}; {have} of {whole} are attached so far")
    } else if have == 0 {
        format_with_capacity(128, format_args!("{whole} ({})", evidence.words()))
    } else {
        format!("{have} of {whole} are attached, {} missing", missing.len())
    };
    let change =
        Change { edit: Edit::Networks { value, present: existing.is_some() }, reason: reason.into() };
    PlannedNetworks { attached, unused_interfaces, change: Some(change), kept }
}

/// The resource whose unit an attachment takes. A network that is not the profile's may take units of a rail's
/// resource too; then it counts, or one of the rails would be left without a device. Where such attachments stand in
/// for the rails, their units are distributed over the containers like those of rails.
fn resource_that_attachment_takes<'a>(
    subject: &'a Subject<'a>,
    profile: &'a Profile,
    item: &RequestedAttachment<'_>,
    complete: bool,
) -> Attachment<'a> {
    let namespace = item.namespace.as_deref().unwrap_or(subject.namespace);
    if let Some(rail) = profile.first_rail_on_network(namespace, &item.name, subject.namespace) {
        return Attachment { resource: rail.resource.as_deref(), rail: true };
    }
    let fact = subject.snapshot.network(namespace, &item.name);
    if profile.inject == Inject::Networks {
        let fact = fact.filter(|_| is_own_or_default_namespace(subject.namespace, namespace));
        let resource = fact.and_then(|f| f.resource.as_ref()?.full_if_known());
        return Attachment { resource: resource.filter(|name| is_extended_resource(name)), rail: true };
    }
    let fact = network_that_plan_may_read(subject, profile, namespace, &item.name);
    let resource = fact.and_then(|fact| rail_resource_that_network_takes(profile, fact));
    Attachment { resource, rail: complete && resource.is_some() }
}

fn short(added: &[RequestedAttachment<'_>]) -> String {
    let mut text = String::with_capacity(added.iter().map(|item| item.short_length() + 1).sum());
    for (nth, item) in added.iter().enumerate() {
        if nth > 0 {
            text.push(',');
        }
        item.push_short(&mut text);
    }
    text
}
