//! FAB405: variables of the profile that the webhook does not set because ranks start over ssh.

use super::variables_not_carried::{assignments, names, no_file};
use crate::plan::EnvRefusal;
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB405", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    let Some((profile, _)) = context.resolution.profile() else { return };
    for left in context.plan.left_out.iter().filter(|l| l.why == EnvRefusal::Ssh) {
        findings.add(
            pointers_in_pod::container(left.container),
            format!(
                "the webhook does not set {}: ssh does not pass env to the ranks{}",
                names(left),
                no_file(left)
            ),
            format!("Start the ranks with mpirun {}.", assignments(profile, left, "-x ")),
        );
    }
}
