//! Resources of preflight: the devices of all targets together, and the CPU and memory of the first.
//!
//! The scheduler takes the largest init container or the sum of the app containers, whichever is more (KEP-753), so that
//! neither adds to the pod. Values of a target pass whatever LimitRange and quality of service require of that target.

use crate::json::lists_too_long_to_decode::MAX_RESOURCES;
use crate::json::types_of_decoded_fields::Quantities;
use crate::json::write::{json_of_list, json_of_pairs, json_of_text};
use crate::plan::pod_with_plan::PodWithPlan;
use crate::plan::{Edit, Plan, Target};
use crate::pod::PodView;
use crate::pod::pod_fields::Container;
use std::collections::{BTreeMap, BTreeSet};

/// Resources of a container other than devices.
fn is_native(name: &str) -> bool {
    !name.contains('/')
}

/// Whether the resources of preflight can be read again.
pub(super) fn can_preflight_resources_be_read(pod: &PodView<'_>, targets: &[Target]) -> bool {
    let containers = targets.iter().filter_map(|t| pod.containers().get(t.index));
    let names: BTreeSet<&str> = containers.flat_map(|c| c.resource_names()).collect();
    names.len() < MAX_RESOURCES / 2
}

/// `resources` of preflight.
pub(super) fn resources_json_of_preflight(
    pod: &PodView<'_>,
    plan: &Plan,
    first: &Container<'_>,
) -> Option<String> {
    let mut limits = native(first.limits(), |_| true);
    let devices = extended_units_of_targets(pod, plan);
    let devices: Vec<(&str, String)> =
        devices.iter().map(|(name, units)| (*name, json_of_text(&units.to_string()))).collect();
    limits.extend(devices);
    resources_as_json(limits, native(first.requests(), |_| true), &claims(pod, plan))
}

/// `resources` of install: no devices, which it would take from nobody, but need not wait for either.
pub(super) fn resources_json_of_install(first: &Container<'_>) -> Option<String> {
    let plain = |name: &str| matches!(name, "cpu" | "memory" | "ephemeral-storage");
    resources_as_json(native(first.limits(), plain), native(first.requests(), plain), &[])
}

fn native<'c>(list: Option<&'c Quantities<'_>>, wanted: impl Fn(&str) -> bool) -> Vec<(&'c str, String)> {
    let pairs =
        list.into_iter().flat_map(Quantities::iter).filter(|(name, _)| is_native(name) && wanted(name));
    pairs.map(|(name, quantity)| (name, json_of_text(&quantity.0))).collect()
}

/// Units of each extended resource that the targets hold with the plan.
pub(super) fn extended_units_of_targets<'p>(pod: &'p PodView<'_>, plan: &'p Plan) -> BTreeMap<&'p str, i64> {
    let overlay = PodWithPlan::new(pod, plan);
    let mut sums: BTreeMap<&str, i64> = BTreeMap::new();
    for target in &plan.targets {
        let Some(container) = pod.containers().get(target.index) else { continue };
        let planned = plan.changes_of_container(target.index).iter().filter_map(|c| match &c.edit {
            Edit::Quantity { name, .. } => Some(name.as_str()),
            _ => None,
        });
        let names: BTreeSet<&str> =
            container.resource_names().chain(planned).filter(|n| !is_native(n)).collect();
        for name in names {
            let units = overlay.final_units_in_limits(target.index, container, name);
            if units > 0 {
                let sum = sums.entry(name).or_default();
                *sum = sum.saturating_add(units);
            }
        }
    }
    sums
}

/// The claims of the targets, each once.
fn claims(pod: &PodView<'_>, plan: &Plan) -> Vec<String> {
    let containers = plan.targets.iter().filter_map(|t| pod.containers().get(t.index));
    let listed =
        containers.flat_map(|c| c.resources.as_ref().and_then(|r| r.claims.as_deref()).unwrap_or_default());
    // By name, the requests; a claim that one of them uses as a whole is used as a whole.
    let mut uses: BTreeMap<&str, Option<BTreeSet<&str>>> = BTreeMap::new();
    for claim in listed {
        let Some(name) = claim.name.as_deref() else { continue };
        let requests = uses.entry(name).or_insert_with(|| Some(BTreeSet::new()));
        match claim.request.as_deref().filter(|r| !r.is_empty()) {
            Some(request) => drop(requests.as_mut().map(|all| all.insert(request))),
            None => *requests = None,
        }
    }
    let claim = |(name, requests): (&str, Option<BTreeSet<&str>>)| match requests {
        None => vec![json_of_pairs(&[("name", json_of_text(name))])],
        Some(all) => {
            let one = |request: &str| {
                json_of_pairs(&[("name", json_of_text(name)), ("request", json_of_text(request))])
            };
            all.into_iter().map(one).collect()
        }
    };
    uses.into_iter().flat_map(claim).collect()
}

fn resources_as_json(
    limits: Vec<(&str, String)>,
    requests: Vec<(&str, String)>,
    claims: &[String],
) -> Option<String> {
    let mut members = Vec::new();
    for (name, list) in [("limits", limits), ("requests", requests)] {
        if !list.is_empty() {
            members.push((name, json_of_pairs(&list)));
        }
    }
    if !claims.is_empty() {
        members.push(("claims", json_of_list(claims)));
    }
    (!members.is_empty()).then(|| json_of_pairs(&members))
}
