//! FAB725: more units of a resource than any node for the pod has.

use super::node_classes_for_pod::classes_pod_can_run_on_with_resources;
use crate::plan::{Edit, ResourceList};
use crate::pod::containers_and_their_resources::{ContainerPlace, units_or_zero};
use crate::profile::schema::Inject;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};
use crate::text::{escaped_and_cut, json_pointer_token};
use std::collections::BTreeMap;

pub(super) static RULE: Rule = Rule {
    id: "FAB725",
    severity: Severity::Warning,
    files: files!(),
    reach: PodsChecked::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

/// What a pod takes of one resource.
#[derive(Debug, Default)]
struct UnitsOfPod {
    /// Units of app containers and native sidecars, which run together.
    running: i64,
    /// Units of the native sidecars that have started so far.
    sidecars: i64,
    /// Most units that an init container takes with the sidecars before it.
    starting: i64,
    /// Pointer of the first container that takes any.
    path: String,
}

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let nodes = context.subject.snapshot.nodes_for_audience();
    let profile = context.resolution.profile().map(|(profile, _)| profile);
    // Under this kind of profile the plan adds node selectors of networks, and so narrows the nodes.
    if nodes.is_empty() || profile.is_some_and(|p| p.inject == Inject::Networks) {
        return;
    }
    let Some(taken) = units_of_each_resource(context) else { return };
    let Some(mut set) = classes_pod_can_run_on_with_resources(context, taken.keys().copied()) else { return };
    // The plan may keep the pod to the nodes of its profile.
    if let Some(own) = profile.and_then(|p| context.subject.snapshot.catalog().node_classes_of(&p.name)) {
        set.intersect_with(own);
    }
    for (name, taken) in taken {
        let wanted = taken.running.max(taken.starting);
        // Nothing is known where a node lists 0, as it does while its device plugin restarts.
        let Some(most) = nodes.most_units(&set, name).and_then(|most| i64::try_from(most).ok()) else {
            continue;
        };
        if wanted <= most {
            continue;
        }
        let has = if context.subject.snapshot.is_not_for_operator() {
            "as many".to_owned()
        } else {
            format!("more than {most}")
        };
        findings.add(
            taken.path,
            format!(
                "the pod requests {wanted} units of {}, but no node where it can run has {has}: the pod stays Pending",
                escaped_and_cut(name, 80)
            ),
            "Request no more units than one node has. If the job needs more, use more pods.",
        );
    }
}

/// Units of every extended resource, as the scheduler adds them up; `None` where no node lists one of them, which FAB720
/// reports: the app containers and native
/// sidecars together, or an init container with the sidecars before it, whichever is more (KEP-753).
fn units_of_each_resource<'a>(context: &PodContext<'a>) -> Option<BTreeMap<&'a str, UnitsOfPod>> {
    let classes = context.subject.snapshot.nodes_for_audience().classes();
    let mut all: BTreeMap<&str, UnitsOfPod> = BTreeMap::new();
    let mut unlisted = false;
    let mut take = |holder: ContainerPlace, name: &'a str, units: i64| {
        if units <= 0 || !name.contains('/') {
            return;
        }
        unlisted |= classes.classes_offering(name).is_none();
        if unlisted {
            return;
        }
        let taken = all.entry(name).or_insert_with(|| UnitsOfPod {
            path: format!("{}/resources/limits/{}", holder.json_pointer(), json_pointer_token(name)),
            ..UnitsOfPod::default()
        });
        match holder {
            ContainerPlace::App(_) => taken.running = taken.running.saturating_add(units),
            ContainerPlace::Sidecar(_) => {
                taken.running = taken.running.saturating_add(units);
                taken.sidecars = taken.sidecars.saturating_add(units);
                taken.starting = taken.starting.max(taken.sidecars);
            }
            ContainerPlace::Init(_) => {
                taken.starting = taken.starting.max(taken.sidecars.saturating_add(units))
            }
        }
    };
    for (holder, container) in context.pod().containers_not_added_by_webhook() {
        let changes = match holder {
            ContainerPlace::App(index) => context.plan.changes_of_container(index),
            ContainerPlace::Sidecar(_) | ContainerPlace::Init(_) => &[],
        };
        let mut planned: BTreeMap<&str, i64> = BTreeMap::new();
        for change in changes {
            if let Edit::Quantity { list: ResourceList::Limits, name, units, .. } = &change.edit {
                planned.insert(name, *units);
            }
        }
        container.for_each_resource_quantity(&mut |name, quantity| {
            let of_plan = planned.remove(name);
            take(holder, name, of_plan.unwrap_or_else(|| units_or_zero(quantity)));
        });
        for (name, units) in planned {
            take(holder, name, units);
        }
    }
    (!unlisted).then_some(all)
}
