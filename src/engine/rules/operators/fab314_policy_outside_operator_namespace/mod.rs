//! FAB314: SriovNetworkNodePolicy outside of the operator's namespace.

use super::operator_namespace::own_and_operator_namespace_if_differing;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NODE_POLICY;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB314",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    if let Some((own, operator)) = own_and_operator_namespace_if_differing(context) {
        findings.add(
            "/metadata/namespace",
            format!("this policy is in namespace {own:?}: the operator reads only policies in its own namespace, {operator:?}"),
            format!("Set metadata.namespace: {operator}."),
        );
    }
}
