//! PF001: the expectation of the profile.

use crate::preflight::check::{Check, Context};
use crate::preflight::expect::VARIABLE;
use crate::preflight::outcome::Outcome;

pub(super) static CHECK: Check =
    Check { id: "PF001", page: include_str!("page.md"), rdma_only: false, judge };

fn judge(context: &Context<'_>) -> Outcome {
    match &context.seen.expectation {
        Ok(Some(expected)) => {
            let profile = expected.profile.as_deref().unwrap_or("no named profile");
            Outcome::pass(format!("read, of {profile}"))
        }
        Ok(None) => Outcome::unknown(format!("{VARIABLE} is not set, so the checks use general facts only")),
        Err(why) => Outcome::unknown(format!("{VARIABLE} {why}")),
    }
}
