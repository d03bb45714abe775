//! PF002: the files that preflight writes. They are written after all other checks, so the result comes from
//! [`Report::record_result_of_writing_files`](crate::preflight::preflight_report::Report::record_result_of_writing_files).

use crate::preflight::check_declaration::{Check, Context};
use crate::preflight::check_outcome::PreflightCheckOutcome;

pub(super) static CHECK: Check =
    Check { id: "PF002", page: include_str!("page.md"), rdma_only: false, judge };

fn judge(context: &Context<'_>) -> PreflightCheckOutcome {
    match (&context.expected.write, &context.expected.facts) {
        (None, None) => PreflightCheckOutcome::off("preflight has no file to write"),
        _ => PreflightCheckOutcome::unknown("not written yet"),
    }
}
