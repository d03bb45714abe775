//! FAB101: networks annotation that Multus cannot parse.

use crate::multus::AnnotationError;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod::networks_annotation;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB101",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, "Multus never reads the annotation of a hostNetwork pod")],
    files: files!(),
    denies_before_final: true,
    reach: PodsChecked::Any,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    if let Some(Err(error)) = &context.subject.networks {
        // FAB820 reports these.
        if matches!(error, AnnotationError::TooMany(_)) {
            return;
        }
        if context.pod().host_network() {
            findings.add_with_severity(
                Severity::Warning,
                networks_annotation(),
                format!("the networks annotation has no effect on a hostNetwork pod, and cannot be parsed: {error}"),
                "Remove the annotation.",
            );
            return;
        }
        let fix = match error {
            // Istio before istio/istio#55000 wrote its own network like this into lists.
            AnnotationError::BadName { what: "network name", value, .. } if value.contains('/') => {
                "Write the namespace as a separate key: {\"name\": …, \"namespace\": …}."
            }
            AnnotationError::BadValue { .. } => "Correct this value, or remove its key.",
            _ => "Write `namespace/name@interface, …`, or a JSON list of objects that each have a `name`.",
        };
        findings.add(
            networks_annotation(),
            format!("the networks annotation cannot be parsed: {error}"),
            fix,
        );
    }
}
