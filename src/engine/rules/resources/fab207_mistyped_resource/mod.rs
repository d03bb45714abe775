//! FAB207: resource name that is probably mistyped.

use crate::pod::limits_and_costs_of_pods::MAX_RESOURCE_NAMES;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::misspelt_resource::resource_name_meant_if_unserved;
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};
use crate::text::{escaped_and_cut, json_pointer_token};
use std::collections::HashSet;

pub(super) static RULE: Rule = Rule {
    id: "FAB207",
    severity: Severity::Warning,
    files: files!(),
    reach: PodsChecked::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let mut seen: HashSet<&str> = HashSet::new();
    for (holder, container) in context.pod().containers_not_added_by_webhook() {
        for name in container.resource_names() {
            if seen.len() == MAX_RESOURCE_NAMES {
                return;
            }
            if !seen.insert(name) {
                continue;
            }
            let Some(resource_name_meant) = resource_name_meant_if_unserved(name, context.subject) else {
                continue;
            };
            let list = match container.limits().is_some_and(|l| l.get(name).is_some()) {
                true => "limits",
                false => "requests",
            };
            findings.add(
                format!("{}/resources/{list}/{}", holder.json_pointer(), json_pointer_token(name)),
                format!(
                    "no known device plugin advertises {}, so the pod may stay Pending; did you mean {}?",
                    escaped_and_cut(name, 60),
                    escaped_and_cut(&resource_name_meant, 60)
                ),
                format!("Write {}.", escaped_and_cut(&resource_name_meant, 60)),
            );
        }
    }
}
