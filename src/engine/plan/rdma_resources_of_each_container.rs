//! RDMA resources: as many units as there are attachments with the resource, on the containers that request
//! accelerators.

use super::planned_attachment::Attachment;
use super::target_container_type::sum_of_accelerators;
use super::user_fabric_counts::CountedUnits;
use super::{Change, Edit, OwnFieldKept, Plan, Reason, ResourceList, Target};
use crate::json::lists_too_long_to_decode::MAX_RESOURCES;
use crate::pod::PodView;
use crate::pod::Quantity;
use crate::pod::containers_and_their_resources::units_or_zero;
use crate::pod::pod_fields::Container;
use crate::profile::schema::Per;
use crate::profile::{Profile, units_of_other_resource};
use crate::text::{Count, count_with_noun, format_with_capacity};
use std::collections::{BTreeMap, HashMap};

/// Units of one resource for one container.
pub(super) struct WantedUnits<'n> {
    container: usize,
    name: &'n str,
    units: i64,
    reason: Reason,
    /// Whether a user's smaller quantity is raised; only a count of attachments proves that it is too small.
    raise: bool,
}

/// The units for each target, in the order of the containers. `attached` is each attachment of the final annotation,
/// in its order.
pub(super) fn units_wanted_by_each_target<'n>(
    pod: &PodView<'_>,
    profile: &'n Profile,
    targets: &[Target],
    counted: &[CountedUnits],
    attached: &[Attachment<'n>],
) -> Vec<WantedUnits<'n>> {
    let mut wanted = Vec::new();
    let dealt = distribute_attachments_over_targets(targets, attached);
    let mut needs: BTreeMap<&'n str, i64> = BTreeMap::new();
    for name in attached.iter().filter_map(|a| a.resource) {
        *needs.entry(name).or_default() += 1;
    }
    let held = units_held_by_running_containers(pod, needs.keys().copied());
    for (name, attachments) in needs {
        let held = held.get(name).copied().unwrap_or(0);
        push_wanted_units_of_targets(pod, targets, &dealt, &Need { name, attachments, held }, &mut wanted);
    }
    for resource in &profile.resources {
        // Units that only other containers hold are not asked again: the pod would need twice the devices. FAB203
        // reports them.
        let elsewhere =
            |units: &CountedUnits| units.resource == resource.name && units.targets == 0 && units.others > 0;
        if counted.iter().any(elsewhere) {
            continue;
        }
        for target in targets {
            let rails = dealt.rails.get(&target.index).copied().unwrap_or(0);
            let reason = match resource.per {
                Per::Rail => {
                    let rails = count_with_noun(rails as usize, "rail");
                    format!("profile {} requests {} per rail, for {rails}", profile.name, resource.quantity)
                }
                _ => format!(
                    "profile {} requests this resource for every container with accelerators",
                    profile.name
                ),
            };
            wanted.push(WantedUnits {
                container: target.index,
                name: &resource.name,
                units: units_of_other_resource(resource, target.accelerators, rails),
                reason: Reason::Shared(reason.into()),
                raise: false,
            });
        }
    }
    // A container that carries no rail needs no unit per rail.
    wanted.retain(|w| w.units > 0);
    wanted.sort_by_key(|w| w.container);
    wanted
}

/// The share of the attachments of each target.
#[derive(Default)]
struct Dealt<'a> {
    /// Attachments with a resource, by container.
    units: BTreeMap<(&'a str, usize), i64>,
    /// Attachments of a container.
    rails: BTreeMap<usize, u32>,
}

/// Distributes the attachments over the targets by their accelerators: with four accelerators each, the first target
/// gets the first half of the rails, whether they share one resource or have one each.
fn distribute_attachments_over_targets<'a>(targets: &[Target], attached: &[Attachment<'a>]) -> Dealt<'a> {
    let total = u64::from(sum_of_accelerators(targets).max(1));
    let mut dealt = Dealt::default();
    let rails = || attached.iter().filter(|a| a.rail);
    let count = rails().count();
    let mut rails = rails().enumerate().peekable();
    let mut seen = 0_u64;
    for target in targets {
        seen += u64::from(target.accelerators);
        let upto = usize::try_from(count as u64 * seen / total).unwrap_or(count);
        let mut own = 0;
        while let Some((_, rail)) = rails.next_if(|(nth, _)| *nth < upto) {
            own += 1;
            if let Some(name) = rail.resource {
                *dealt.units.entry((name, target.index)).or_default() += 1;
            }
        }
        if own > 0 {
            dealt.rails.insert(target.index, own);
        }
    }
    dealt
}

/// Units that the running containers of the pod hold: Multus takes devices from all of them (multus-cni
/// pkg/k8sclient).
pub(super) fn units_held_by_running_containers<'n>(
    pod: &PodView<'_>,
    names: impl Iterator<Item = &'n str>,
) -> HashMap<&'n str, i64> {
    let mut held: HashMap<&str, i64> = names.map(|name| (name, 0)).collect();
    if held.is_empty() {
        return held;
    }
    for (_, container) in
        pod.containers_not_added_by_webhook().filter(|(holder, _)| holder.is_app_or_sidecar())
    {
        container.for_each_resource_quantity(&mut |name, quantity| {
            if let Some(sum) = held.get_mut(name) {
                *sum = sum.saturating_add(units_or_zero(quantity));
            }
        });
    }
    held
}

/// A resource of attachments.
struct Need<'n> {
    name: &'n str,
    attachments: i64,
    /// Units that running containers hold.
    held: i64,
}

/// Shares out what is missing of a resource. Units that any running container holds count. What a target holds already
/// counts for it, so that the sum never passes the number of attachments.
fn push_wanted_units_of_targets<'n>(
    pod: &PodView<'_>,
    targets: &[Target],
    dealt: &Dealt<'_>,
    need: &Need<'n>,
    wanted: &mut Vec<WantedUnits<'n>>,
) {
    let apps = pod.containers();
    let name = need.name;
    let mut short = need.attachments.saturating_sub(need.held);
    let units = Count(usize::try_from(need.attachments).unwrap_or(usize::MAX), "network attachment");
    let reason = Reason::Shared(format_with_capacity(48, format_args!("{units}, one unit each")).into());
    let own = |index: usize| apps.get(index).and_then(|c| c.units_of_resource(name)).unwrap_or(0);
    let mut gives: Vec<(usize, i64, i64)> = Vec::new();
    for ((_, index), share) in dealt.units.range((name, 0)..=(name, usize::MAX)) {
        let own = own(*index);
        let give = share.saturating_sub(own).clamp(0, short.max(0));
        short -= give;
        gives.push((*index, own, give));
    }
    // The first target gets the remainder of rounding and uneven holdings.
    if short > 0
        && let Some(first) = targets.first()
    {
        match gives.first_mut().filter(|(index, ..)| *index == first.index) {
            Some(give) => give.2 += short,
            None => gives.insert(0, (first.index, own(first.index), short)),
        }
    }
    for (container, own, give) in gives {
        if give > 0 {
            let reason = reason.clone();
            wanted.push(WantedUnits {
                container,
                name,
                units: own.saturating_add(give),
                reason,
                raise: true,
            });
        }
    }
}

/// The quantities of a target.
pub(super) fn plan_units_of_target(
    pod: &PodView<'_>,
    target: Target,
    wanted: &[WantedUnits<'_>],
) -> (Vec<Change>, Vec<OwnFieldKept>) {
    let (mut changes, mut kept) = (Vec::new(), Vec::new());
    let Some(container) = pod.containers().get(target.index) else { return (changes, kept) };
    let start = wanted.partition_point(|w| w.container < target.index);
    let own = wanted.iter().skip(start).take_while(|w| w.container == target.index);
    for item in own {
        let edit = |list, present| Edit::Quantity {
            container: target.index,
            list,
            name: item.name.to_owned(),
            units: item.units,
            present,
        };
        let limit = quantity(container, ResourceList::Limits, item.name);
        let request = quantity(container, ResourceList::Requests, item.name);
        let short = |units: i64| item.raise && units < item.units;
        match (limit, request) {
            // A text that is not a number is the user's to fix; a rule reports it.
            (Some(None), _) | (_, Some(None)) => continue,
            // The API requires both to be equal (ValidateResourceRequirements); if they differ, a rule reports it.
            (Some(Some(limit)), Some(Some(request))) if limit != request => continue,
            (Some(Some(units)), request) => {
                if !short(units) {
                    // Rules on attachments compare the units of rails with them.
                    let differs = OwnFieldKept::Units {
                        container: target.index,
                        resource: item.name.to_owned(),
                        own: units,
                        wanted: item.units,
                    };
                    kept.extend((!item.raise && units != item.units).then_some(differs));
                    continue;
                }
                let reason = Reason::Shared(format!("{}; {units} is too few", &*item.reason).into());
                changes.push(Change { edit: edit(ResourceList::Limits, true), reason: reason.clone() });
                if request.flatten().is_some_and(|request| request != item.units) {
                    changes.push(Change { edit: edit(ResourceList::Requests, true), reason });
                }
            }
            // The API server refuses a request without a limit, and a rule reports it.
            (None, Some(Some(_))) => continue,
            (None, None) => {
                changes.push(Change { edit: edit(ResourceList::Limits, false), reason: item.reason.clone() });
                // The API server copies a limit into absent requests, so requests are written only where the
                // container lists them (k8s.io/kubernetes pkg/apis/core/v1/defaults.go).
                if container.requests().is_some() {
                    let reason = item.reason.clone();
                    changes.push(Change { edit: edit(ResourceList::Requests, false), reason });
                }
            }
        }
    }
    (changes, kept)
}

/// Whether every container's lists can be read again once the plan is carried out.
pub(super) fn are_resource_lists_short_enough(pod: &PodView<'_>, plan: &Plan) -> bool {
    pod.containers().iter().enumerate().all(|(index, container)| {
        [ResourceList::Limits, ResourceList::Requests].into_iter().all(|wanted| {
            let own = match wanted {
                ResourceList::Limits => container.limits(),
                ResourceList::Requests => container.requests(),
            };
            let added = plan.changes_of_container(index).iter().filter(
                |c| matches!(&c.edit, Edit::Quantity { list, present: false, .. } if *list == wanted),
            );
            own.map_or(0, |o| o.0.len()) + added.count() <= MAX_RESOURCES
        })
    })
}

/// The quantity under a key: absent, one that the API server refuses here (not a number, negative, a fraction), or a
/// number of units.
fn quantity(container: &Container<'_>, list: ResourceList, name: &str) -> Option<Option<i64>> {
    let map = match list {
        ResourceList::Limits => container.limits(),
        ResourceList::Requests => container.requests(),
    };
    let text = map?.get(name)?;
    Some(
        Quantity::parse(&text.0)
            .ok()
            .filter(|q| !q.is_negative() && q.is_integer())
            .map(Quantity::units_rounded_up),
    )
}
