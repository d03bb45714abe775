//! PF504: the version of NCCL in the image.

use crate::preflight::check_declaration::{Check, Context};
use crate::preflight::check_outcome::PreflightCheckOutcome;

pub(super) static CHECK: Check =
    Check { id: "PF504", page: include_str!("page.md"), rdma_only: false, judge };

fn judge(context: &Context<'_>) -> PreflightCheckOutcome {
    match &context.seen.image.nccl {
        Ok((version, path)) => PreflightCheckOutcome::pass(format!("{version} ({path})")),
        Err(why) => PreflightCheckOutcome::unknown(format!("libnccl.so.2: {why}")),
    }
}
