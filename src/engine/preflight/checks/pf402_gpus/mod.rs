//! PF402: number of GPUs.

use crate::preflight::check_declaration::{Check, Context, either_outcome, value_or_outcome};
use crate::preflight::check_outcome::{PreflightCheckOutcome, WhoCanFix};
use crate::text::count_with_noun;

pub(super) static CHECK: Check =
    Check { id: "PF402", page: include_str!("page.md"), rdma_only: false, judge };

fn judge(context: &Context<'_>) -> PreflightCheckOutcome {
    either_outcome(gpus(context))
}

fn gpus(context: &Context<'_>) -> Result<PreflightCheckOutcome, PreflightCheckOutcome> {
    let found = value_or_outcome(&context.seen.gpu.devices, "/dev")?.len();
    let has = count_with_noun(found, "GPU");
    Ok(match context.expected.gpus.map(|wanted| wanted as usize) {
        None if found == 0 => {
            PreflightCheckOutcome::unknown("no NVIDIA GPU, and nothing shows whether the pod should have one")
        }
        None => PreflightCheckOutcome::pass(has),
        Some(0) => PreflightCheckOutcome::off("the profile expects no GPU"),
        Some(wanted) if wanted == found => PreflightCheckOutcome::pass(has),
        Some(_) if found == 0 && context.seen.gpu.driver.is_err() => {
            PreflightCheckOutcome::unknown("no NVIDIA GPU; preflight does not count other accelerators")
        }
        Some(wanted) if found < wanted => PreflightCheckOutcome::fail(
            if found == 0 { WhoCanFix::Configuration } else { WhoCanFix::Node },
            format!("{has}, but the profile expects {wanted}"),
            "Check that this container requests the GPUs. Check on the node that the driver sees all GPUs (nvidia-smi, kernel log).",
        ),
        Some(wanted) => PreflightCheckOutcome::warn(
            WhoCanFix::Configuration,
            format!("{has}, but the profile expects {wanted}: the container sees GPUs of other pods"),
            "Run the container without privileged, and without NVIDIA_VISIBLE_DEVICES=all.",
        ),
    })
}
