//! FAB207: resource name that is probably mistyped.

use crate::pod::list_length_limits::MAX_RESOURCE_NAMES;
use crate::rules::finding::{Findings, Severity};
use crate::rules::misspelt_resource::resource_name_meant;
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Reach, Rule, files};
use crate::text::{json_pointer_token, printable};
use std::collections::HashSet;

pub(super) static RULE: Rule = Rule {
    id: "FAB207",
    severity: Severity::Warning,
    files: files!(),
    reach: Reach::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    let mut seen: HashSet<&str> = HashSet::new();
    for (holder, container) in context.pod().holders() {
        for name in container.resource_names() {
            if seen.len() == MAX_RESOURCE_NAMES {
                return;
            }
            if !seen.insert(name) {
                continue;
            }
            let Some(resource_name_meant) = resource_name_meant(name, context.subject) else { continue };
            let list = match container.limits().is_some_and(|l| l.get(name).is_some()) {
                true => "limits",
                false => "requests",
            };
            findings.add(
                format!("{}/resources/{list}/{}", holder.path(), json_pointer_token(name)),
                format!(
                    "no known device plugin advertises {}, so the pod may stay Pending; did you mean {}?",
                    printable(name, 60),
                    printable(&resource_name_meant, 60)
                ),
                format!("Write {}.", printable(&resource_name_meant, 60)),
            );
        }
    }
}
