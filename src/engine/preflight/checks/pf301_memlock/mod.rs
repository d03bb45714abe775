//! PF301: locked memory.

use crate::preflight::check_declaration::{Check, Context, either_outcome, value_or_outcome};
use crate::preflight::check_outcome::{PreflightCheckOutcome, WhoCanFix};
use crate::rdma::process_limits::Memlock;

pub(super) static CHECK: Check = Check { id: "PF301", page: include_str!("page.md"), rdma_only: true, judge };

/// Below this NCCL cannot create its queues and buffers: it fails with 8 MiB (NVIDIA/nccl-tests#206), and a rank registers
/// at least some tens of MiB.
const MIN_MEMLOCK_BYTES: u64 = 64 << 20;

fn judge(context: &Context<'_>) -> PreflightCheckOutcome {
    either_outcome(memlock(context))
}

fn memlock(context: &Context<'_>) -> Result<PreflightCheckOutcome, PreflightCheckOutcome> {
    let limits = &context.seen.limits;
    let bytes = match value_or_outcome(&limits.memlock, "/proc/self/limits")? {
        Memlock::Unlimited => return Ok(PreflightCheckOutcome::pass("no limit")),
        Memlock::Bytes(bytes) => *bytes,
    };
    let capable = *value_or_outcome(&limits.ipc_lock, "/proc/self/status")?;
    let initial = *value_or_outcome(&limits.initial_user_namespace, "/proc/self/uid_map")?;
    if capable && initial {
        return Ok(PreflightCheckOutcome::pass("with IPC_LOCK, the limit does not apply"));
    }
    let shown = if bytes < 1 << 20 { format!("{} KiB", bytes >> 10) } else { format!("{} MiB", bytes >> 20) };
    let (why, fix) = if capable {
        (
            "the container runs in a user namespace, where the limit applies even with IPC_LOCK",
            "Set hostUsers: true, or let the node's container runtime set LimitMEMLOCK=infinity.",
        )
    } else {
        (
            "and the process has no effective IPC_LOCK",
            "Run as root with capability IPC_LOCK, or let the node's container runtime set LimitMEMLOCK=infinity. For another user, IPC_LOCK has no effect.",
        )
    };
    let message = format!("the limit of locked memory is {shown}, {why}");
    Ok(if bytes < MIN_MEMLOCK_BYTES {
        PreflightCheckOutcome::fail(
            WhoCanFix::Configuration,
            format!("{message}: ibv_reg_mr and ibv_create_cq fail"),
            fix,
        )
    } else {
        PreflightCheckOutcome::warn(WhoCanFix::Configuration, format!("{message}: ibv_reg_mr may fail"), fix)
    })
}
