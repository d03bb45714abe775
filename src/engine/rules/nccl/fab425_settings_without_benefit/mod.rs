//! FAB425: libfabric or PyTorch setting without benefit.

use crate::nccl::numbers_as_nccl_reads::{has_unknown_part, leading_number};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB425",
    severity: Severity::Info,
    quiet: true,
    files: files!(),
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for variables in context.variables() {
        let number = |name: &str| {
            variables.value_that_counts(name).filter(|v| !has_unknown_part(v)).map(leading_number)
        };
        if let Some(given) =
            variables.own_setting_that_counts("FI_EFA_FORK_SAFE").filter(|g| g.value.as_deref() == Some("1"))
        {
            findings.add(
                variables.pointer_of_setting(given),
                format!(
                    "FI_EFA_FORK_SAFE=1{} is not needed since Linux 5.13, and disables huge pages",
                    variables.place_in_words(given)
                ),
                "Remove FI_EFA_FORK_SAFE.",
            );
        }
        let (wait, handling) = ("TORCH_NCCL_BLOCKING_WAIT", "TORCH_NCCL_ASYNC_ERROR_HANDLING");
        let both = number(wait) == Some(1) && number(handling).is_some_and(|n| (1..=3).contains(&n));
        if let Some(given) = variables.own_setting_that_counts(wait).filter(|_| both) {
            findings.add(
                variables.pointer_of_setting(given),
                format!(
                    "{wait}=1 and {handling}{} are both set: only one of the two has an effect",
                    variables.place_in_words(given)
                ),
                "Keep only one of the two settings.",
            );
        }
    }
}
