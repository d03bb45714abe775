//! PF105: mode of RDMA network namespaces.

use crate::preflight::check_declaration::{Check, Context, either_outcome, value_or_outcome};
use crate::preflight::check_outcome::{PreflightCheckOutcome, WhoCanFix};
use crate::rdma::netlink::NamespaceMode;

pub(super) static CHECK: Check = Check { id: "PF105", page: include_str!("page.md"), rdma_only: true, judge };

fn judge(context: &Context<'_>) -> PreflightCheckOutcome {
    either_outcome(mode(context))
}

fn mode(context: &Context<'_>) -> Result<PreflightCheckOutcome, PreflightCheckOutcome> {
    let mode = value_or_outcome(&context.seen.namespace_mode, "netlink, RDMA system")?;
    let devices = value_or_outcome(&context.seen.devices, "/sys/class/infiniband")?;
    Ok(match mode {
        NamespaceMode::Shared if devices.is_empty() => {
            PreflightCheckOutcome::unknown("the mode is shared, but the kernel shows no RDMA device")
        }
        NamespaceMode::Shared => PreflightCheckOutcome::pass(
            "the mode is shared, so sysfs lists all devices of the node and has no counters for this pod",
        ),
        NamespaceMode::Exclusive if devices.is_empty() => PreflightCheckOutcome::fail(
            WhoCanFix::Configuration,
            "the mode is exclusive, but no RDMA device was moved into this pod's network namespace",
            "Add the rdma CNI plugin to the pod's networks, after sriov or host-device.",
        ),
        NamespaceMode::Exclusive => {
            PreflightCheckOutcome::pass("the mode is exclusive, so sysfs lists only the devices of this pod")
        }
    })
}
