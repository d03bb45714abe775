//! PF001: the expectation of the profile.

use crate::preflight::check_declaration::{Check, Context};
use crate::preflight::check_outcome::PreflightCheckOutcome;
use crate::preflight::expectation_document::VARIABLE;

pub(super) static CHECK: Check =
    Check { id: "PF001", page: include_str!("page.md"), rdma_only: false, judge };

fn judge(context: &Context<'_>) -> PreflightCheckOutcome {
    match &context.seen.expectation {
        Ok(Some(expected)) => {
            let of =
                expected.profile.as_deref().map_or_else(String::new, |name| format!(" of profile {name}"));
            PreflightCheckOutcome::pass(format!("preflight has read the expectation{of}"))
        }
        Ok(None) => PreflightCheckOutcome::unknown(format!(
            "{VARIABLE} is not set, so preflight does not know what the profile expects"
        )),
        Err(why) => PreflightCheckOutcome::unknown(format!("{VARIABLE} {why}")),
    }
}
