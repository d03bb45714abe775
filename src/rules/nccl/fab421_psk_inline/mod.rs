//! FAB421: NCCL_PSK in the pod itself.

use super::given::Place;
use crate::nccl::number::is_open;
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod::PodContext;
use crate::rules::rule::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB421", severity: Severity::Error, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    for spoken in context.spoken() {
        for (given, value) in spoken.values() {
            if *given.name != *"NCCL_PSK" || value.is_empty() || is_open(value) {
                continue;
            }
            let severity =
                if matches!(given.place, Place::Env(_)) { Severity::Error } else { Severity::Warning };
            findings.add_as(
                severity,
                spoken.path(given),
                format!("NCCL_PSK stands here in clear{}", spoken.place(given)),
                "refer to a Secret by valueFrom.secretKeyRef, and take a new key",
            );
        }
    }
}
