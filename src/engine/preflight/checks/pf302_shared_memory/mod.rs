//! PF302: /dev/shm.

use crate::preflight::check_declaration::{Check, Context, either_outcome, value_or_outcome};
use crate::preflight::check_outcome::{PreflightCheckOutcome, WhoCanFix};
use crate::preflight::readings::TMPFS;
use crate::text::count_with_noun;

pub(super) static CHECK: Check =
    Check { id: "PF302", page: include_str!("page.md"), rdma_only: false, judge };

/// What one rank takes for one communicator at start: 34210176 bytes in NCCL 2.30.
const PER_RANK: u64 = 33 << 20;

fn judge(context: &Context<'_>) -> PreflightCheckOutcome {
    either_outcome(shared_memory(context))
}

fn shared_memory(context: &Context<'_>) -> Result<PreflightCheckOutcome, PreflightCheckOutcome> {
    let found = value_or_outcome(&context.seen.shm.filesystem, "/dev/shm")?;
    let visible = context.seen.gpu.devices.as_ref().map(|gpus| gpus.len() as u64).unwrap_or(0);
    let ranks = context.expected.gpus.map_or(visible, u64::from);
    let (size, free) = (found.size >> 20, found.free >> 20);
    let needed = ranks.saturating_mul(PER_RANK);
    let fix = "Mount an emptyDir {medium: Memory} at /dev/shm, with sizeLimit 8Gi per accelerator.";
    let who = count_with_noun(usize::try_from(ranks).unwrap_or(usize::MAX), "rank");
    if found.kind != TMPFS {
        return Ok(PreflightCheckOutcome::warn(
            WhoCanFix::Configuration,
            "/dev/shm is not in memory: shared memory goes through the file system",
            fix,
        ));
    }
    if ranks >= 2 && found.size < needed {
        return Ok(PreflightCheckOutcome::fail(
            WhoCanFix::Configuration,
            format!(
                "/dev/shm has {size} MiB for {who}, which need {} MiB for one communicator: NCCL fails with No space left on device",
                needed >> 20
            ),
            fix,
        ));
    }
    if ranks >= 2 && found.free < needed {
        return Ok(PreflightCheckOutcome::fail(
            WhoCanFix::Configuration,
            format!("/dev/shm has {free} MiB free of {size} MiB, and {who} need {} MiB", needed >> 20),
            "Delete old files in /dev/shm before training starts (see PF303), or give /dev/shm more space.",
        ));
    }
    if let Some(wanted) = context.expected.shm.filter(|wanted| found.size < *wanted) {
        return Ok(PreflightCheckOutcome::warn(
            WhoCanFix::Configuration,
            format!("/dev/shm has {size} MiB, but the profile expects {} MiB", wanted >> 20),
            fix,
        ));
    }
    if ranks == 0 {
        return Ok(PreflightCheckOutcome::unknown(format!(
            "/dev/shm has {size} MiB; the number of ranks is not known"
        )));
    }
    Ok(PreflightCheckOutcome::pass(format!("{size} MiB in memory for {who}, {free} MiB free")))
}
