//! FAB101: networks annotation that Multus cannot parse.

use crate::multus::AnnotationError;
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod::annotation_path;
use crate::rules::rule_declaration::{Reach, Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB101",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, "Multus never reads the annotation of a hostNetwork pod")],
    files: files!(),
    denies_before_final: true,
    reach: Reach::Any,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    if let Some(Err(error)) = &context.subject.networks {
        // FAB820 reports these.
        if matches!(error, AnnotationError::TooMany(_)) {
            return;
        }
        if context.pod().host_network() {
            findings.add_as(
                Severity::Warning,
                annotation_path(),
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
        findings.add(annotation_path(), format!("the networks annotation cannot be parsed: {error}"), fix);
    }
}
