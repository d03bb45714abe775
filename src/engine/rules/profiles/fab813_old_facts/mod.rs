//! FAB813: outdated facts about the cluster.

use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB813",
    severity: Severity::Warning,
    files: files!(no_example: "only the webhook's watches fall behind"),
    at_one_point: true,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let stale = context.subject.snapshot.stale_kinds();
    if !stale.is_empty() && context.resolution.profile().is_some() {
        let message = format!(
            "facts about the cluster's {} are old: the API server has sent no update for a while",
            stale.join(", ")
        );
        findings.add(
            "",
            message,
            "Report this to the platform team: the decision may rest on outdated facts.",
        );
    }
}
