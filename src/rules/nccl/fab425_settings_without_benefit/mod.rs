//! FAB425: a setting of libfabric or PyTorch that does not help, or works against another.

use crate::nccl::number::{is_open, leading_number};
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod::PodContext;
use crate::rules::rule::{Rule, files};

pub(super) static RULE: Rule =
    Rule { id: "FAB425", severity: Severity::Info, files: files!(), pod: Some(check), ..Rule::DEFAULT };

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    for spoken in context.spoken() {
        let number = |name: &str| spoken.value(name).filter(|v| !is_open(v)).map(leading_number);
        if let Some(given) = spoken.said("FI_EFA_FORK_SAFE").filter(|g| g.value.as_deref() == Some("1")) {
            findings.add(
                spoken.path(given),
                format!(
                    "FI_EFA_FORK_SAFE=1{}: of no use on kernels from 5.13 on, and huge pages are off with it",
                    spoken.place(given)
                ),
                "drop it",
            );
        }
        let (wait, handling) = ("TORCH_NCCL_BLOCKING_WAIT", "TORCH_NCCL_ASYNC_ERROR_HANDLING");
        let both = number(wait) == Some(1) && number(handling).is_some_and(|n| (1..=3).contains(&n));
        if let Some(given) = spoken.said(wait).filter(|_| both) {
            findings.add(
                spoken.path(given),
                format!("{wait}=1 beside {handling}{}: one takes the other's place", spoken.place(given)),
                "keep one of them",
            );
        }
    }
}
