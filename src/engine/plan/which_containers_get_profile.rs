//! The containers that a profile applies to: those that request accelerators, at any position, or those that the pod
//! names. Never container 0 by position, and never a mesh's proxy, which the mesh may insert there.

use super::annotation_names_and_paths::CONTAINERS_ANNOTATION;
use super::{Target, WrongContainers};
use crate::demands::Subject;
use crate::profile::Profile;
use crate::profile::schema::Inject;
use crate::text::nearest_if_probably_meant;
use std::collections::{BTreeMap, BTreeSet};

/// Proxies of service meshes; a user's container does not have these names.
const MESH_PROXIES: [&str; 2] = ["istio-proxy", "linkerd-proxy"];

/// Whether a container is the proxy of a service mesh, by its name.
pub(super) fn is_mesh_proxy(name: &str) -> bool {
    MESH_PROXIES.contains(&name)
}

/// Finds the targets, in the order of the list.
pub(super) fn find_targets(subject: &Subject<'_>, profile: &Profile) -> Result<Vec<Target>, WrongContainers> {
    let (pod, demands) = (subject.pod, &subject.demands);
    let names = |index: usize| pod.containers().get(index).map(|c| c.name()).unwrap_or_default();
    let apps = 0..pod.containers().len();
    let target = |index: usize| {
        let demand = demands.of_app_container(index);
        // An unknown quantity, or a claim that cannot be read, may be for a whole node.
        let unknown = demand.unknown || !demand.any && demands.has_unknown_claim(index);
        let least = if unknown { profile.accelerators_per_node } else { 1 };
        Target { index, accelerators: demand.whole.max(least), nccl: demand.nccl || !demand.any }
    };
    if let Some(list) = pod.annotation(CONTAINERS_ANNOTATION) {
        let named = indices_of_named_containers(subject, list)?;
        let asks = demands.requests_any_accelerator() || profile.inject == Inject::Networks;
        if !asks && !apps.clone().any(|index| demands.has_unknown_claim(index)) {
            return Err(WrongContainers::NoAccelerators);
        }
        let asks = |i: &usize| {
            demands.of_app_container(*i).any
                || demands.has_unknown_claim(*i) && named.binary_search(i).is_ok()
        };
        let asking = apps.filter(asks).map(target).collect();
        return Ok(share_accelerators_among_named(&named, asking));
    }
    let found: Vec<Target> = apps
        .clone()
        .filter(|index| demands.of_app_container(*index).any && !is_mesh_proxy(names(*index)))
        .map(target)
        .collect();
    if !found.is_empty() {
        return Ok(found);
    }
    // As container 0 of network-resources-injector: the first container that may be the user's.
    if profile.inject == Inject::Networks {
        let present = |index: usize| pod.containers().get(index).is_some_and(|c| c.present);
        let first = apps.into_iter().find(|index| present(*index) && !is_mesh_proxy(names(*index)));
        return Ok(first.map(|index| Target { index, accelerators: 1, nccl: true }).into_iter().collect());
    }
    // A claim that cannot be read may be for a whole node; its container is the only one that may compute.
    let unread = apps.filter(|index| demands.has_unknown_claim(*index) && !is_mesh_proxy(names(*index)));
    let target = |index| Target { index, accelerators: profile.accelerators_per_node, nccl: true };
    Ok(unread.map(target).collect())
}

/// Indices of the containers of a comma list, in the order of the pod.
fn indices_of_named_containers(subject: &Subject<'_>, list: &str) -> Result<Vec<usize>, WrongContainers> {
    let index: BTreeMap<&str, usize> =
        subject.pod.containers().iter().enumerate().rev().map(|(i, c)| (c.name(), i)).collect();
    let mut found = BTreeSet::new();
    for name in list.split(',').map(str::trim) {
        match index.get(name) {
            _ if name.is_empty() => return Err(WrongContainers::Empty),
            _ if is_mesh_proxy(name) => return Err(WrongContainers::Proxy(name.to_owned())),
            Some(index) if !found.insert(*index) => return Err(WrongContainers::Twice(name.to_owned())),
            Some(_) => {}
            None if subject.pod.init_containers().iter().any(|c| c.name() == name) => {
                return Err(WrongContainers::Init(name.to_owned()));
            }
            None => {
                let near = nearest_if_probably_meant(
                    name,
                    subject.deadline.take_names_within_budgets(name, index.keys().copied()),
                )
                .map(str::to_owned);
                return Err(WrongContainers::Unknown(name.to_owned(), near));
            }
        }
    }
    Ok(found.into_iter().collect())
}

/// The named containers with their own accelerators. The accelerators of other containers are shared equally between
/// the named ones without any: a container may drive the NICs for another container's accelerators. Both are in the order
/// of the pod.
fn share_accelerators_among_named(named: &[usize], asking: Vec<Target>) -> Vec<Target> {
    let is_named = |target: &&Target| named.binary_search(&target.index).is_ok();
    let others = asking.iter().filter(|t| !is_named(t)).map(|t| t.accelerators);
    let others = others.fold(0_u32, u32::saturating_add);
    let without = named.len() - asking.iter().filter(is_named).count();
    let share = others.div_ceil(u32::try_from(without).unwrap_or(u32::MAX).max(1)).max(1);
    // A container without its own accelerators drives the NICs for the others.
    let nccl = asking.iter().any(|t| t.nccl) || asking.is_empty();
    let own = |index: usize| {
        let at = asking.binary_search_by_key(&index, |t| t.index).ok()?;
        asking.get(at).copied()
    };
    let target = |index: &usize| own(*index).unwrap_or(Target { index: *index, accelerators: share, nccl });
    named.iter().map(target).collect()
}
