//! FAB345: SriovNetwork or SriovIBNetwork with linkState disable.

use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::{SRIOV_IB_NETWORK, SRIOV_NETWORK};
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::rules_in_cel::{Cel, CelCheck};

pub(super) static RULE: Rule = Rule {
    id: "FAB345",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[SRIOV_NETWORK, SRIOV_IB_NETWORK],
    object: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    if context.non_empty_text_at("/spec/linkState") == Some("disable") {
        findings.add(
            "/spec/linkState",
            "linkState is disable: the VF's port stays down, so NCCL finds no active port",
            "Set linkState: auto.",
        );
    }
}

fn cel() -> Cel {
    let wrong = "variables.spec.?linkState.orValue('') == 'disable'";
    let message =
        "linkState is disable: the VF's port stays down, so NCCL finds no active port; set linkState: auto";
    Cel { variables: Vec::new(), checks: vec![CelCheck::warning(wrong, message)], beyond: None }
}
