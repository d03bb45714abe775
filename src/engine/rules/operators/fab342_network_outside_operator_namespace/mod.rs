//! FAB342: SR-IOV network outside of the operator's namespace that sets networkNamespace.

use super::operator_namespace::own_and_operator_namespace_if_differing;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::{OVS_NETWORK, SRIOV_IB_NETWORK, SRIOV_NETWORK};
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB342",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[SRIOV_NETWORK, SRIOV_IB_NETWORK, OVS_NETWORK],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(target) = context.non_empty_text_at("/spec/networkNamespace") else { return };
    if let Some((own, operator)) = own_and_operator_namespace_if_differing(context) {
        findings.add(
            "/spec/networkNamespace",
            format!("networkNamespace {target:?} on an object in {own:?}: the operator accepts this field only in {operator:?}"),
            format!("Set metadata.namespace: {operator}, or remove networkNamespace."),
        );
    }
}
