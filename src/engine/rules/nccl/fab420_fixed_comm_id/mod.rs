//! FAB420: NCCL_COMM_ID with a fixed address.

use crate::nccl::numbers_as_nccl_reads::has_unknown_part;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB420", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for variables in context.variables() {
        let Some(given) = variables.own_setting_that_counts("NCCL_COMM_ID") else { continue };
        let fixed = |v: &str| !v.is_empty() && !has_unknown_part(v);
        if given.value.as_deref().is_some_and(fixed) {
            findings.add(
                variables.pointer_of_setting(given),
                format!(
                    "NCCL_COMM_ID{} is a constant: all jobs of this template use the same address, and hang",
                    variables.place_in_words(given)
                ),
                "Remove NCCL_COMM_ID.",
            );
        }
    }
}
