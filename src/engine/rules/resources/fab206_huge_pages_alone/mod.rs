//! FAB206: huge pages in a container that requests neither cpu nor memory.

use crate::pod::pod_fields::Container;
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Reach, Rule, files};
use crate::text::printable;

pub(super) static RULE: Rule = Rule {
    id: "FAB206",
    severity: Severity::Warning,
    files: files!(),
    reach: Reach::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    // Requests in spec.resources may also serve the containers.
    if context.pod().spec.as_ref().is_some_and(|s| s.resources.is_some()) {
        return;
    }
    for (holder, container) in context.pod().holders().filter(|(_, c)| alone(c)) {
        findings.add(
            format!("{}/resources", holder.path()),
            format!(
                "container {:?} requests huge pages, but neither cpu nor memory: the API server refuses the pod",
                printable(container.name(), 63)
            ),
            "Request memory in the same container.",
        );
    }
}

/// Whether a container requests huge pages and neither cpu nor memory.
fn alone(container: &Container<'_>) -> bool {
    let names = || container.resource_names();
    names().any(|name| name.starts_with("hugepages-"))
        && !names().any(|name| matches!(name, "cpu" | "memory"))
}
