//! FAB602: libfabric settings that do not fit EFA.

use super::efa::{containers_with_efa, own_or_planned_value, variable_path};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule = Rule {
    id: "FAB602",
    severity: Severity::Warning,
    lesser: &[(Severity::Info, "the setting does harm only with huge pages")],
    files: files!(),
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for (index, container) in containers_with_efa(context) {
        let set = |name| own_or_planned_value(context, index, container, name);
        if let Some(provider) = set("FI_PROVIDER").filter(|v| !v.is_empty() && !v.contains("efa")) {
            findings.add(
                variable_path(index, container, "FI_PROVIDER"),
                format!(
                    "FI_PROVIDER={} does not include efa: NCCL's plugin finds no EFA device",
                    escaped_and_cut(provider, 40)
                ),
                "Set FI_PROVIDER=efa, or remove the variable.",
            );
        }
        let pages = || container.resource_names().any(|name| name.starts_with("hugepages-"));
        if set("FI_EFA_USE_HUGE_PAGE") == Some("1") && !pages() {
            findings.add(
                variable_path(index, container, "FI_EFA_USE_HUGE_PAGE"),
                "FI_EFA_USE_HUGE_PAGE=1, but the container requests no huge pages: the EFA provider works without them, or fails",
                "Request hugepages-2Mi: 5120Mi together with memory, or remove the variable.",
            );
        }
        if set("RDMAV_FORK_SAFE").is_some() {
            findings.add_with_severity(
                Severity::Info,
                variable_path(index, container, "RDMAV_FORK_SAFE"),
                "RDMAV_FORK_SAFE is not needed since Linux 5.13; with huge pages, this variable makes fork fail",
                "Remove RDMAV_FORK_SAFE.",
            );
        }
    }
}
