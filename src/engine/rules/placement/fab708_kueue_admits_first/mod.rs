//! FAB708: resources that the profile adds but Kueue's quota does not count.

use crate::plan::{Edit, ResourceList};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::workload_context::WorkloadContext;
use crate::text::escaped_and_cut;
use std::collections::BTreeSet;

pub(super) static RULE: Rule =
    Rule { id: "FAB708", severity: Severity::Info, files: files!(), workload: Some(check), ..Rule::DEFAULT };

/// kubernetes-sigs/kueue pkg/controller/constants.
const QUEUE_LABEL: &str = "kueue.x-k8s.io/queue-name";

fn check(context: &WorkloadContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let queue = context.metadata.and_then(|m| m.labels.as_ref()?.get(QUEUE_LABEL));
    let Some(queue) = queue.filter(|queue| !queue.is_empty()) else { return };
    for (template, asked) in context.templates_in_scope() {
        let added: BTreeSet<&str> = asked
            .plan
            .changes
            .iter()
            .filter_map(|change| match &change.edit {
                Edit::Quantity { list: ResourceList::Limits, name, .. } => Some(name.as_str()),
                _ => None,
            })
            .collect();
        let mut shown: Vec<&str> = added.iter().copied().take(3).collect();
        if shown.is_empty() {
            continue;
        }
        if added.len() > shown.len() {
            shown.push("…");
        }
        findings.add(
            format!("{}/spec/containers", template.pointer),
            format!(
                "the quota of queue {:?} does not count {}, which the profile adds: admitted pods may stay Pending",
                escaped_and_cut(queue, 63),
                escaped_and_cut(&shown.join(", "), 150)
            ),
            "Apply the output of fabric-admission review -o yaml, and add the resources to the ClusterQueue.",
        );
    }
}
