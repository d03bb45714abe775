//! FAB725: more units of a resource than any node for the pod has.

use super::node_classes_for_pod::landing_classes_with_resources;
use crate::plan::{Edit, ResourceList};
use crate::pod::resource_units::{Holder, units};
use crate::profile::schema::Inject;
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Reach, Rule, files};
use crate::text::{json_pointer_token, printable};
use std::collections::BTreeMap;

pub(super) static RULE: Rule = Rule {
    id: "FAB725",
    severity: Severity::Warning,
    files: files!(),
    reach: Reach::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

/// What a pod takes of one resource.
#[derive(Debug, Default)]
struct Taken {
    /// Units of app containers and native sidecars, which run together.
    running: i64,
    /// Units of the native sidecars that have started so far.
    sidecars: i64,
    /// Most units that an init container takes with the sidecars before it.
    starting: i64,
    /// Pointer of the first container that takes any.
    path: String,
}

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    let nodes = context.subject.snapshot.nodes_for_audience();
    let profile = context.resolution.profile().map(|(profile, _)| profile);
    // Under this kind of profile the plan adds node selectors of networks, and so narrows the nodes.
    if nodes.is_empty() || profile.is_some_and(|p| p.inject == Inject::Networks) {
        return;
    }
    let Some(taken) = taken(context) else { return };
    let Some(mut set) = landing_classes_with_resources(context, taken.keys().copied()) else { return };
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
                printable(name, 80)
            ),
            "Request no more units than one node has. If the job needs more, use more pods.",
        );
    }
}

/// Units of every extended resource, as the scheduler adds them up; `None` where no node lists one of them, which FAB720
/// reports: the app containers and native
/// sidecars together, or an init container with the sidecars before it, whichever is more (KEP-753).
fn taken<'a>(context: &PodContext<'a>) -> Option<BTreeMap<&'a str, Taken>> {
    let classes = context.subject.snapshot.nodes_for_audience().classes();
    let mut all: BTreeMap<&str, Taken> = BTreeMap::new();
    let mut unlisted = false;
    let mut take = |holder: Holder, name: &'a str, units: i64| {
        if units <= 0 || !name.contains('/') {
            return;
        }
        unlisted |= classes.offering_of(name).is_none();
        if unlisted {
            return;
        }
        let taken = all.entry(name).or_insert_with(|| Taken {
            path: format!("{}/resources/limits/{}", holder.path(), json_pointer_token(name)),
            ..Taken::default()
        });
        match holder {
            Holder::App(_) => taken.running = taken.running.saturating_add(units),
            Holder::Sidecar(_) => {
                taken.running = taken.running.saturating_add(units);
                taken.sidecars = taken.sidecars.saturating_add(units);
                taken.starting = taken.starting.max(taken.sidecars);
            }
            Holder::Init(_) => taken.starting = taken.starting.max(taken.sidecars.saturating_add(units)),
        }
    };
    for (holder, container) in context.pod().holders() {
        let changes = match holder {
            Holder::App(index) => context.plan.changes_of_container(index),
            Holder::Sidecar(_) | Holder::Init(_) => &[],
        };
        let mut planned: BTreeMap<&str, i64> = BTreeMap::new();
        for change in changes {
            if let Edit::Quantity { list: ResourceList::Limits, name, units, .. } = &change.edit {
                planned.insert(name, *units);
            }
        }
        container.each_quantity(&mut |name, quantity| {
            let of_plan = planned.remove(name);
            take(holder, name, of_plan.unwrap_or_else(|| units(quantity)));
        });
        for (name, units) in planned {
            take(holder, name, units);
        }
    }
    (!unlisted).then_some(all)
}
