//! RDMA resources: as many units as attachments carry them, on the containers that ask for accelerators.

use super::{Change, Edit, Plan, ResourceList, Scene, Target};
use crate::fabric::{Profile, fixed_units};
use crate::pod::Quantity;
use crate::pod::view::Container;
use crate::text::count;
use std::collections::BTreeMap;

/// Units of one resource for one container.
pub(super) struct Wanted {
    container: usize,
    name: String,
    units: i64,
    reason: String,
    /// Whether a smaller quantity of the user's is raised; only a count of attachments says so for sure.
    raise: bool,
}

/// What each target should have.
pub(super) fn wanted(
    scene: Scene<'_>,
    profile: &Profile,
    plan: &Plan,
    attached: &BTreeMap<String, i64>,
) -> Vec<Wanted> {
    let mut wanted = Vec::new();
    for (name, attachments) in attached {
        share(scene, plan, name, *attachments, &mut wanted);
    }
    for resource in &profile.resources {
        for target in &plan.targets {
            wanted.push(Wanted {
                container: target.index,
                name: resource.name.clone(),
                units: fixed_units(resource, target.accelerators),
                reason: format!("profile {} asks it of every container with accelerators", profile.name),
                raise: false,
            });
        }
    }
    wanted
}

/// Splits the units that the attachments need over the targets by their accelerators. Units that other
/// running containers hold count: Multus takes devices from all of them (multus-cni pkg/k8sclient).
fn share(scene: Scene<'_>, plan: &Plan, name: &str, attachments: i64, wanted: &mut Vec<Wanted>) {
    let pod = scene.pod;
    let is_target = |i: usize| plan.targets.iter().any(|t| t.index == i);
    let others: i64 = pod
        .containers()
        .iter()
        .enumerate()
        .filter(|(i, _)| !is_target(*i))
        .map(|(_, c)| c)
        .chain(pod.init_containers().iter().filter(|c| c.is_sidecar()))
        .filter_map(|c| c.units(name))
        .sum();
    let held: i64 = plan.targets.iter().filter_map(|t| pod.containers().get(t.index)?.units(name)).sum();
    let need = attachments.saturating_sub(others);
    if held >= need {
        return;
    }
    let total = i64::from(plan.accelerators.max(1));
    let (mut seen, mut given) = (0_i64, 0_i64);
    for target in &plan.targets {
        seen += i64::from(target.accelerators);
        // Cumulative rounding: the shares add up to the whole.
        let upto = need.saturating_mul(seen) / total;
        let units = upto - given;
        given = upto;
        let reason = format!(
            "one unit for each of {}",
            count(usize::try_from(attachments).unwrap_or(usize::MAX), "attachment")
        );
        if units > 0 {
            wanted.push(Wanted {
                container: target.index,
                name: name.to_owned(),
                units,
                reason,
                raise: true,
            });
        }
    }
}

pub(super) fn plan(scene: Scene<'_>, target: Target, wanted: &[Wanted], plan: &mut Plan) {
    let Some(container) = scene.pod.containers().get(target.index) else { return };
    for item in wanted.iter().filter(|w| w.container == target.index) {
        let has_requests = container.requests().is_some();
        for list in [ResourceList::Limits, ResourceList::Requests] {
            let present = quantity(container, list, &item.name);
            let current = match present {
                // A text that is no number is the user's to mend; a rule says so.
                Some(None) => continue,
                Some(Some(units)) => Some(units),
                None => None,
            };
            let edit = |present| Edit::Quantity {
                container: target.index,
                list,
                name: item.name.clone(),
                units: item.units,
                present,
            };
            let change = match current {
                Some(units) if units >= item.units || !item.raise => continue,
                Some(units) => {
                    Change { edit: edit(true), reason: format!("{}; {units} is too few", item.reason) }
                }
                // The API server copies a limit into absent requests, so requests are written only where the
                // container lists them (k8s.io/kubernetes pkg/apis/core/v1/defaults.go).
                None if list == ResourceList::Requests && !has_requests => continue,
                None => Change { edit: edit(false), reason: item.reason.clone() },
            };
            plan.changes.push(change);
        }
    }
}

/// The quantity under a key: absent, unreadable, or a number of units.
fn quantity(container: &Container<'_>, list: ResourceList, name: &str) -> Option<Option<i64>> {
    let map = match list {
        ResourceList::Limits => container.limits(),
        ResourceList::Requests => container.requests(),
    };
    let text = map?.get(name)?;
    Some(Quantity::parse(&text.0).ok().map(Quantity::units))
}
