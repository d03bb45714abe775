//! The rails that a pod gets: the subset it names, else as many as its accelerators take; of these, those that it has
//! not attached yet, and for which it has devices.

use super::annotation_names_and_paths::RAILS_ANNOTATION;
use crate::demands::Subject;
use crate::multus::RequestedAttachment;
use crate::pod::PodView;
use crate::profile::schema::Inject;
use crate::profile::{Profile, Rail};
use std::collections::{BTreeMap, BTreeSet};

/// The rails of a pod with so many accelerators. `None`: it asks for a part that the profile does not have.
pub(super) fn rails_chosen_for_pod<'p>(
    pod: &PodView<'_>,
    profile: &'p Profile,
    accelerators: u32,
) -> Option<&'p [Rail]> {
    match pod.annotation(RAILS_ANNOTATION) {
        Some(name) => profile.subset(name).map(|s| s.rails.as_slice()),
        None => Some(profile.rails_for_accelerators(accelerators)),
    }
}

/// The rails that are added to a pod.
pub(super) struct RailsToAdd<'r> {
    /// Each of them.
    pub(super) missing: Vec<&'r Rail>,
    /// Rails that the pod has by itself (count).
    pub(super) have: usize,
}

/// The rails that are added to a pod with these networks. `complete`: its own ones stand for all of the rails.
pub(super) fn rails_to_add<'r>(
    subject: &Subject<'_>,
    profile: &Profile,
    rails: &'r [Rail],
    items: &[RequestedAttachment<'_>],
    mut room: BTreeMap<String, i64>,
    complete: bool,
) -> RailsToAdd<'r> {
    let mut missing = rails_without_attachment(rails, items, subject.namespace);
    let have = rails.len() - missing.len();
    if complete {
        missing.clear();
    }
    // A pod that requests devices itself gets at most one network for each.
    missing.retain(|rail| match rail.resource.as_deref().and_then(|name| room.get_mut(name)) {
        Some(left) => {
            *left -= 1;
            *left >= 0
        }
        None => true,
    });
    if profile.inject == Inject::Annotations {
        drop_rails_beyond_requested_units(subject, rails, items, &mut missing);
    }
    RailsToAdd { missing, have }
}

/// The rails that no attachment of the pod serves. A network with the interface of a rail is that rail; beyond that,
/// a network named n times serves n rails.
fn rails_without_attachment<'a>(
    rails: &'a [Rail],
    items: &[RequestedAttachment<'_>],
    pod_namespace: &str,
) -> Vec<&'a Rail> {
    let mut left: BTreeMap<(&str, &str), (usize, BTreeSet<&str>)> = BTreeMap::new();
    for item in items {
        let namespace = item.namespace.as_deref().unwrap_or(pod_namespace);
        let (times, interfaces) = left.entry((namespace, &item.name)).or_default();
        *times += 1;
        interfaces.extend(item.interface.as_deref());
    }
    let key = |rail: &'a Rail| {
        (rail.network.namespace.as_deref().unwrap_or(pod_namespace), rail.network.name.as_str())
    };
    let mut by_name = |rail: &&'a Rail| {
        let Some((times, interfaces)) = left.get_mut(&key(rail)) else { return true };
        let found = interfaces.remove(rail.interface.as_str());
        *times -= usize::from(found);
        !found
    };
    let mut rest: Vec<&Rail> = Vec::with_capacity(rails.len());
    rest.extend(rails.iter().filter(|rail| by_name(rail)));
    rest.retain(|rail| match left.get_mut(&key(rail)) {
        Some((times, _)) if *times > 0 => {
            *times -= 1;
            false
        }
        _ => true,
    });
    rest
}

/// Keeps the rails that the pod has devices for. Where it asks units of a resource itself, and ours is not to raise
/// them, an attachment beyond them gets no device and the pod never starts. Where it asks none, another webhook adds
/// as many as there are attachments (k8snetworkplumbingwg/network-resources-injector pkg/webhook).
fn drop_rails_beyond_requested_units(
    subject: &Subject<'_>,
    rails: &[Rail],
    items: &[RequestedAttachment<'_>],
    missing: &mut Vec<&Rail>,
) {
    let named = rails.iter().filter_map(|r| r.resource.as_deref());
    let mut room =
        super::rdma_resources_of_each_container::units_held_by_running_containers(subject.pod, named);
    room.retain(|_, held| *held > 0);
    for item in items {
        let namespace = item.namespace.as_deref().unwrap_or(subject.namespace);
        let rail = rails.iter().find(|r| r.network.is_network(namespace, &item.name, subject.namespace));
        if let Some(left) = rail.and_then(|r| room.get_mut(r.resource.as_deref()?)) {
            *left -= 1;
        }
    }
    missing.retain(|rail| match rail.resource.as_deref().and_then(|name| room.get_mut(name)) {
        Some(left) => {
            *left -= 1;
            *left >= 0
        }
        None => true,
    });
}
