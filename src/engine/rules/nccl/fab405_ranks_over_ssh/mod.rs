//! FAB405: variables of the profile that the webhook does not set because ranks start over ssh.

use super::variables_left_out_in_words::{assignments_to_copy, first_names_in_words, why_no_file_in_words};
use crate::plan::EnvRefusal;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB405", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some((profile, _)) = context.resolution.profile() else { return };
    for left in context.plan.left_out.iter().filter(|l| l.why == EnvRefusal::Ssh) {
        findings.add(
            pointers_in_pod::container(left.container),
            format!(
                "the webhook does not set {}: ssh does not pass env to the ranks{}",
                first_names_in_words(left),
                why_no_file_in_words(left)
            ),
            format!("Start the ranks with mpirun {}.", assignments_to_copy(profile, left, "-x ")),
        );
    }
}
