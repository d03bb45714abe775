//! FAB350: SriovOperatorConfig that the operator ignores.

use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::OPERATOR_CONFIG;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::rules_in_cel::{Cel, CelCheck};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule = Rule {
    id: "FAB350",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, "the operator's namespace is only inferred from other objects")],
    files: files!(),
    kinds: &[OPERATOR_CONFIG],
    object: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    if let Some(name) = context.non_empty_text_at("/metadata/name").filter(|name| *name != "default") {
        findings.add(
            "/metadata/name",
            format!(
                "the operator ignores SriovOperatorConfig \"{}\": it reads only the object named \"default\"",
                escaped_and_cut(name, 63)
            ),
            "Set metadata.name: default.",
        );
    }
    let operator = context.snapshot.cluster_facts_for_audience().namespace_of_sriov_operator();
    if let (Some(own), Some(operator)) = (context.non_empty_text_at("/metadata/namespace"), operator)
        && own != operator
    {
        findings.add_with_severity(
            Severity::Warning,
            "/metadata/namespace",
            format!("the operator ignores this SriovOperatorConfig in namespace {own:?}: the operator reads only its own namespace, {operator:?}"),
            format!("Set metadata.namespace: {operator}."),
        );
    }
}

fn cel() -> Cel {
    let wrong = "object.metadata.?name.orValue('default') != 'default'";
    let message = "the operator ignores this SriovOperatorConfig: it reads only the object named default; set metadata.name: default";
    let beyond = Some("the operator's namespace");
    Cel { variables: Vec::new(), checks: vec![CelCheck::error(wrong, message)], beyond }
}
