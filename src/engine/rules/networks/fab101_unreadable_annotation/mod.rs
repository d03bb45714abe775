//! FAB101: networks annotation that Multus cannot parse.

use crate::multus::AnnotationError;
use crate::rules::finding::{Findings, Severity};
use crate::rules::paths::annotation_path;
use crate::rules::pod::PodContext;
use crate::rules::rule::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB101",
    severity: Severity::Error,
    files: files!(),
    denies_before_final: true,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    if let Some(Err(error)) = &context.subject.networks {
        let fix = match error {
            // Istio before istio/istio#55000 wrote its own network like this into lists.
            AnnotationError::BadName { what: "network name", value, .. } if value.contains('/') => {
                "Write the namespace as its own key: {\"name\": …, \"namespace\": …}."
            }
            _ => "Write `namespace/name@interface, …` or a JSON list of objects with `name`.",
        };
        findings.add(annotation_path(), format!("networks annotation cannot be parsed: {error}"), fix);
    }
}
