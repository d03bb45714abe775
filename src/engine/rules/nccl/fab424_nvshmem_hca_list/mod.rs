//! FAB424: NVSHMEM_HCA_LIST has no effect.

use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB424", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    const MAPPING: &str = "NVSHMEM_ENABLE_NIC_PE_MAPPING";
    for variables in context.variables() {
        let listed = variables
            .own_setting_that_counts("NVSHMEM_HCA_LIST")
            .filter(|g| g.value.as_deref().is_none_or(|v| !v.is_empty()));
        let Some(given) = listed else { continue };
        let off = |v: &str| matches!(v.to_ascii_lowercase().as_str(), "0" | "n" | "no" | "false" | "off");
        let unused =
            variables.is_surely_absent(MAPPING) || variables.value_that_counts(MAPPING).is_some_and(off);
        if unused {
            findings.add(
                variables.pointer_of_setting(given),
                format!(
                    "NVSHMEM_HCA_LIST{} has no effect without {MAPPING}=1",
                    variables.place_in_words(given)
                ),
                format!("Set {MAPPING}=1, or remove NVSHMEM_HCA_LIST."),
            );
        }
    }
}
