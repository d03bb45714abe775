//! FAB404: variables of the profile that the webhook does not set because of envFrom.

use super::variables_not_carried::{assignments, names, no_file};
use crate::plan::{EnvRefusal, VariablesLeftOut};
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB404", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    let Some((profile, _)) = context.resolution.profile() else { return };
    for left in context.plan.left_out.iter().filter(|l| l.why == EnvRefusal::EnvFrom) {
        findings.add(
            pointers_in_pod::in_container(left.container, "envFrom"),
            format!(
                "the webhook does not set {}: envFrom may already set {}{}",
                names(left),
                them(left),
                no_file(left)
            ),
            format!("Add {} to the ConfigMap or to env.", assignments(profile, left, "")),
        );
    }
}

fn them(left: &VariablesLeftOut) -> &'static str {
    if left.names.len() == 1 { "this variable" } else { "these variables" }
}
