//! FAB344: SriovNetwork with a minTxRate above its maxTxRate.

use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::SRIOV_NETWORK;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::rules_in_cel::{Cel, CelCheck};

pub(super) static RULE: Rule = Rule {
    id: "FAB344",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[SRIOV_NETWORK],
    object: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(least) = context.whole_number_at("/spec/minTxRate") else { return };
    let Some(most) = context.whole_number_at("/spec/maxTxRate").filter(|most| *most > 0) else { return };
    if least > most {
        findings.add(
            "/spec/minTxRate",
            format!("minTxRate {least} is higher than maxTxRate {most}: the driver refuses both, and pods stay in ContainerCreating"),
            format!("Set minTxRate to {most} or less."),
        );
    }
}

fn cel() -> Cel {
    let number = |field: &str| format!("type(variables.spec.?{field}.orValue('')) == int");
    let wrong = format!(
        "{} && {} &&\nvariables.spec.maxTxRate > 0 && variables.spec.minTxRate > variables.spec.maxTxRate",
        number("minTxRate"),
        number("maxTxRate")
    );
    let message = "minTxRate is higher than maxTxRate: the driver refuses both, and pods stay in ContainerCreating; set minTxRate to maxTxRate or less";
    Cel { variables: Vec::new(), checks: vec![CelCheck::warning(wrong, message)], beyond: None }
}
