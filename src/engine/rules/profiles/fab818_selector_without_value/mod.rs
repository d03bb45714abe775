//! FAB818: nodeSelector that is null.

use crate::plan::Edit;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB818",
    severity: Severity::Warning,
    files: files!(),
    reach: PodsChecked::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let planned = context.plan.changes.iter().any(|c| matches!(c.edit, Edit::NodeSelector { .. }));
    if !planned && context.pod().spec.as_ref().is_some_and(|spec| spec.node_selector.is_null) {
        findings.add(
            "/spec/nodeSelector",
            "nodeSelector has no value: the API server ignores the field, so the pod can run on any node",
            "Indent the labels below nodeSelector, or remove the line.",
        );
    }
}
