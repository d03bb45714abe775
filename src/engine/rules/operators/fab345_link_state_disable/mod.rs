//! FAB345: SriovNetwork or SriovIBNetwork with linkState disable.

use crate::rules::finding::{Findings, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::{IB_NETWORK, NETWORK};
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::rules_in_cel::{Cel, Check};

pub(super) static RULE: Rule = Rule {
    id: "FAB345",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[NETWORK, IB_NETWORK],
    object: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    if context.text("/spec/linkState") == Some("disable") {
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
    Cel { variables: Vec::new(), checks: vec![Check::warning(wrong, message)], beyond: None }
}
