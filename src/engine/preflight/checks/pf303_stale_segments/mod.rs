//! PF303: old files of NCCL in /dev/shm.

use crate::preflight::check_declaration::{Check, Context, either_outcome, value_or_outcome};
use crate::preflight::check_outcome::{PreflightCheckOutcome, WhoCanFix};
use crate::preflight::readings::TMPFS;
use crate::text::count_with_noun;

pub(super) static CHECK: Check =
    Check { id: "PF303", page: include_str!("page.md"), rdma_only: false, judge };

fn judge(context: &Context<'_>) -> PreflightCheckOutcome {
    either_outcome(stale(context))
}

fn stale(context: &Context<'_>) -> Result<PreflightCheckOutcome, PreflightCheckOutcome> {
    let (files, bytes) = *value_or_outcome(&context.seen.shm.stale, "/dev/shm")?;
    // An empty folder of another file system, such as one of the image, proves nothing.
    let kind = || value_or_outcome(&context.seen.shm.filesystem, "/dev/shm").map(|found| found.kind);
    Ok(match files {
        0 if kind()? != TMPFS => PreflightCheckOutcome::unknown("/dev/shm is not in memory (see PF302)"),
        0 => PreflightCheckOutcome::pass("no old files of NCCL"),
        files => PreflightCheckOutcome::warn(
            WhoCanFix::Configuration,
            format!(
                "{} of NCCL in /dev/shm, {} MiB, from an earlier run or from another pod",
                count_with_noun(files, "file"),
                bytes >> 20
            ),
            "Mount an emptyDir at /dev/shm that only this pod uses. Delete /dev/shm/nccl-* only if no other job uses this /dev/shm.",
        ),
    })
}
