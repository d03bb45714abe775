//! FAB419: NCCL_MNNVL_ENABLE=1 without an IMEX channel.

use crate::nccl::numbers_as_nccl_reads::{has_unknown_part, leading_number, starts_with_no_number};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB419", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for variables in context.variables() {
        let forced = |v: &str| !has_unknown_part(v) && !starts_with_no_number(v) && leading_number(v) == 1;
        let given = variables.own_setting_that_counts("NCCL_MNNVL_ENABLE");
        let Some(given) = given.filter(|g| g.value.as_deref().is_some_and(forced)) else { continue };
        let container = variables.container;
        let claims = container.resources.as_ref().is_some_and(|r| r.claims.is_some());
        if claims || container.privileged() || !variables.is_surely_absent("NVIDIA_IMEX_CHANNELS") {
            continue;
        }
        findings.add(
            variables.pointer_of_setting(given),
            format!(
                "NCCL_MNNVL_ENABLE=1{}, but the container has no claim on an IMEX channel: NCCL fails at start-up",
                variables.place_in_words(given)
            ),
            "Claim a ComputeDomain channel, or remove the variable: by default, NCCL checks for a channel.",
        );
    }
}
