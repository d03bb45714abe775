//! FAB720: resource that is on no node where the pod can run.

use super::node_classes_for_pod::classes_pod_can_run_on_with_accelerators;
use crate::plan::{Edit, ResourceList};
use crate::pod::containers_and_their_resources::units_or_zero;
use crate::pod::limits_and_costs_of_pods::MAX_RESOURCE_NAMES;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::misspelt_resource::resource_name_meant_if_unserved;
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;

use crate::rules::rule_declaration::{Rule, files};
use crate::text::{escaped_and_cut, json_pointer_token};
use std::collections::HashSet;

pub(super) static RULE: Rule =
    Rule { id: "FAB720", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
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
            && facts.device_class_of_resource(name).is_none()
            && resource_name_meant_if_unserved(name, context.subject).is_none()
            && profile.is_none_or(|p| !p.has_resource(name))
    };
    let mut seen: HashSet<&str> = HashSet::new();
    let mut first: Vec<(&str, String)> = Vec::new();
    for (holder, container) in context.pod().containers_not_added_by_webhook() {
        container.for_each_resource_quantity(&mut |name, quantity| {
            let few = seen.len() < MAX_RESOURCE_NAMES;
            let new = few && !seen.contains(name) && units_or_zero(quantity) > 0 && seen.insert(name);
            if new && judged(name) {
                first.push((
                    name,
                    format!("{}/resources/limits/{}", holder.json_pointer(), json_pointer_token(name)),
                ));
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
    let Some(set) = classes_pod_can_run_on_with_accelerators(context) else { return };
    let classes = context.subject.snapshot.nodes_for_audience().classes();
    for (name, path) in first {
        let listed = classes.classes_offering(name);
        if listed.is_some_and(|listed| listed.intersects(&set)) {
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
                escaped_and_cut(name, 80)
            ),
            format!(
                "Let the pod run on nodes that offer {}, or request another resource.",
                escaped_and_cut(name, 80)
            ),
        );
    }
}
