//! FAB421: NCCL_PSK in plain text.

use crate::nccl::number::is_open;
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod::PodContext;
use crate::rules::rule::{Rule, files};
use crate::rules::variables::Place;

pub(super) static RULE: Rule = Rule {
    id: "FAB421",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, "NCCL may get another value than the one in the text")],
    files: files!(),
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    for variables in context.variables() {
        for (given, value) in variables.values() {
            if *given.name != *"NCCL_PSK" || value.is_empty() || is_open(value) {
                continue;
            }
            let severity =
                if matches!(given.place, Place::Env(_)) { Severity::Error } else { Severity::Warning };
            findings.add_as(
                severity,
                variables.path(given),
                format!(
                    "NCCL_PSK is in plain text{}: everyone who may read pods can read the key",
                    variables.place(given)
                ),
                "Put a new key into a Secret, and refer to it by valueFrom.secretKeyRef.",
            );
        }
    }
}
