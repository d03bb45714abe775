//! FAB404: variables of the profile that the webhook does not set because of envFrom.

use super::variables_left_out_in_words::{assignments_to_copy, first_names_in_words, why_no_file_in_words};
use crate::plan::{EnvRefusal, VariablesLeftOut};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB404", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some((profile, _)) = context.resolution.profile() else { return };
    for left in context.plan.left_out.iter().filter(|l| l.why == EnvRefusal::EnvFrom) {
        findings.add(
            pointers_in_pod::in_container(left.container, "envFrom"),
            format!(
                "the webhook does not set {}: envFrom may already set {}{}",
                first_names_in_words(left),
                variables_in_words(left),
                why_no_file_in_words(left)
            ),
            format!("Add {} to the ConfigMap or to env.", assignments_to_copy(profile, left, "")),
        );
    }
}

fn variables_in_words(left: &VariablesLeftOut) -> &'static str {
    if left.names.len() == 1 { "this variable" } else { "these variables" }
}
