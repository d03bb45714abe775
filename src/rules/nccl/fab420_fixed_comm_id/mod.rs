//! FAB420: NCCL_COMM_ID with a fixed address.

use crate::nccl::number::is_open;
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod::PodContext;
use crate::rules::rule::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB420", severity: Severity::Warning, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    for spoken in context.spoken() {
        let Some(given) = spoken.said("NCCL_COMM_ID") else { continue };
        let fixed = |v: &str| !v.is_empty() && !is_open(v);
        if given.value.as_deref().is_some_and(fixed) {
            findings.add(
                spoken.path(given),
                format!(
                    "NCCL_COMM_ID{}: every job of this template meets at one address",
                    spoken.place(given)
                ),
                "drop NCCL_COMM_ID",
            );
        }
    }
}
