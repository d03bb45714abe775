//! FAB206: huge pages in a container that requests neither cpu nor memory.

use crate::pod::pod_fields::Container;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule = Rule {
    id: "FAB206",
    severity: Severity::Warning,
    files: files!(),
    reach: PodsChecked::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    // Requests in spec.resources may also serve the containers.
    if context.pod().spec.as_ref().is_some_and(|s| s.resources.is_some()) {
        return;
    }
    for (holder, container) in
        context.pod().containers_not_added_by_webhook().filter(|(_, c)| requests_huge_pages_alone(c))
    {
        findings.add(
            format!("{}/resources", holder.json_pointer()),
            format!(
                "container {:?} requests huge pages, but neither cpu nor memory: the API server refuses the pod",
                escaped_and_cut(container.name(), 63)
            ),
            "Request memory in the same container.",
        );
    }
}

/// Whether a container requests huge pages and neither cpu nor memory.
fn requests_huge_pages_alone(container: &Container<'_>) -> bool {
    let names = || container.resource_names();
    names().any(|name| name.starts_with("hugepages-"))
        && !names().any(|name| matches!(name, "cpu" | "memory"))
}
