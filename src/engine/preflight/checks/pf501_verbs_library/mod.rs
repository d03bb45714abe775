//! PF501: libibverbs in the image.

use crate::preflight::check_declaration::{Check, Context, listed};
use crate::preflight::check_outcome::{PreflightCheckOutcome, WhoCanFix};
use crate::rdma::Unreadable;

pub(super) static CHECK: Check = Check { id: "PF501", page: include_str!("page.md"), rdma_only: true, judge };

fn judge(context: &Context<'_>) -> PreflightCheckOutcome {
    let fix =
        "Install libibverbs1 and ibverbs-providers (Debian, Ubuntu), or libibverbs (RHEL), in the image.";
    match &context.seen.image.verbs {
        Err(Unreadable::Missing) => PreflightCheckOutcome::fail(
            WhoCanFix::Configuration,
            "the image has no libibverbs.so.1: NCCL silently uses TCP over sockets",
            fix,
        ),
        Err(why) => PreflightCheckOutcome::unknown(format!("libibverbs.so.1: {why}")),
        Ok(library) if !library.fits => PreflightCheckOutcome::fail(
            WhoCanFix::Configuration,
            format!("{} is for another architecture: NCCL cannot load it", library.path),
            "Use an image of the node's architecture.",
        ),
        Ok(library) if !library.missing.is_empty() => PreflightCheckOutcome::fail(
            WhoCanFix::Configuration,
            format!(
                "{} needs {}, which the image does not have: NCCL cannot load it",
                library.path,
                listed(&library.missing)
            ),
            fix,
        ),
        Ok(library) => PreflightCheckOutcome::pass(library.path.clone()),
    }
}
