//! PF303: old files of NCCL in /dev/shm.

use crate::preflight::check::{Check, Context, either, read};
use crate::preflight::outcome::{Fault, Outcome};
use crate::text::count;

pub(super) static CHECK: Check =
    Check { id: "PF303", page: include_str!("page.md"), rdma_only: false, judge };

fn judge(context: &Context<'_>) -> Outcome {
    either(stale(context))
}

fn stale(context: &Context<'_>) -> Result<Outcome, Outcome> {
    let (files, bytes) = *read(&context.seen.shm.stale, "/dev/shm")?;
    Ok(match files {
        0 => Outcome::pass("no old files of NCCL"),
        files => Outcome::warn(
            Fault::Configuration,
            format!(
                "{} of NCCL in /dev/shm take {} MiB until the pod is deleted",
                count(files, "old file"),
                bytes >> 20
            ),
            "Delete /dev/shm/nccl-* before training starts, for example in the command of the container.",
        ),
    })
}
