//! PF401: conditions of GPUDirect RDMA.

use crate::preflight::check_declaration::{Check, Context, either_outcome, value_or_outcome};
use crate::preflight::check_outcome::{PreflightCheckOutcome, WhoCanFix};

pub(super) static CHECK: Check = Check { id: "PF401", page: include_str!("page.md"), rdma_only: true, judge };

fn judge(context: &Context<'_>) -> PreflightCheckOutcome {
    either_outcome(gpudirect(context))
}

fn gpudirect(context: &Context<'_>) -> Result<PreflightCheckOutcome, PreflightCheckOutcome> {
    if context.seen.gpu.peermem == Ok(true) {
        return Ok(PreflightCheckOutcome::pass("the node has nvidia_peermem"));
    }
    let driver = value_or_outcome(&context.seen.gpu.driver, "/proc/driver/nvidia/version")?;
    if driver.contains("Open Kernel Module") {
        return Ok(PreflightCheckOutcome::pass(
            "the open kernel modules of NVIDIA support DMA-BUF; sysfs does not show whether the NIC's driver supports DMA-BUF too",
        ));
    }
    value_or_outcome(&context.seen.gpu.peermem, "/sys/module/nvidia_peermem")?;
    Ok(PreflightCheckOutcome::warn(
        WhoCanFix::Node,
        "the node has neither nvidia_peermem nor the open kernel modules of NVIDIA: NCCL copies through host memory",
        "Install the open kernel modules (GPU operator: driver.kernelModuleType=open), or load nvidia_peermem (driver.rdma.enabled=true).",
    ))
}
