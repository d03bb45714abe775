//! FAB720: resource that is on no node where the pod can run.

use super::node_classes_for_pod::landing_classes_with_accelerators;
use crate::plan::{Edit, ResourceList};
use crate::pod::list_length_limits::MAX_RESOURCE_NAMES;
use crate::pod::resource_units::units;
use crate::rules::finding::{Findings, Severity};
use crate::rules::misspelt_resource::resource_name_meant;
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;

use crate::rules::rule_declaration::{Rule, files};
use crate::text::{json_pointer_token, printable};
use std::collections::HashSet;

pub(super) static RULE: Rule =
    Rule { id: "FAB720", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    if context.subject.snapshot.nodes_for_audience().is_empty() {
        return;
    }
    let accelerators = &context.subject.snapshot.settings().accelerators;
    let profile = context.resolution.profile().map(|(p, _)| p);
    let facts = context.subject.snapshot.cluster_facts_for_audience();
    let judged = |name: &str| {
        let extended = name.split_once('/').is_some_and(|(domain, _)| !domain.ends_with("kubernetes.io"));
        extended
            && !accelerators.contains(name)
            && facts.class_behind(name).is_none()
            && resource_name_meant(name, context.subject).is_none()
            && profile.is_none_or(|p| !p.serves_resource(name))
    };
    let mut seen: HashSet<&str> = HashSet::new();
    let mut first: Vec<(&str, String)> = Vec::new();
    for (holder, container) in context.pod().holders() {
        container.each_quantity(&mut |name, quantity| {
            let few = seen.len() < MAX_RESOURCE_NAMES;
            let new = few && !seen.contains(name) && units(quantity) > 0 && seen.insert(name);
            if new && judged(name) {
                first
                    .push((name, format!("{}/resources/limits/{}", holder.path(), json_pointer_token(name))));
            }
        });
    }
    for change in &context.plan.changes {
        if let Edit::Quantity { list: ResourceList::Limits, name, container, .. } = &change.edit
            && seen.insert(name)
            && judged(name)
        {
            first.push((name, pointers_in_pod::limit(*container, name)));
        }
    }
    if first.is_empty() {
        return;
    }
    let Some(set) = landing_classes_with_accelerators(context) else { return };
    let classes = context.subject.snapshot.nodes_for_audience().classes();
    for (name, path) in first {
        let listed = classes.offering_of(name);
        if listed.is_some_and(|listed| !listed.is_disjoint(&set)) {
            continue;
        }
        let elsewhere = if listed.is_some() && !context.subject.snapshot.is_not_for_operator() {
            " (other nodes offer it)"
        } else {
            ""
        };
        findings.add(
            path,
            format!(
                "the nodes where the pod can run do not offer {}{elsewhere}: the pod stays Pending",
                printable(name, 80)
            ),
            format!(
                "Let the pod run on nodes that offer {}, or request another resource.",
                printable(name, 80)
            ),
        );
    }
}
