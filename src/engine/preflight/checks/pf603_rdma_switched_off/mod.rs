//! PF603: settings that switch RDMA off.

use crate::nccl::numbers_as_nccl_reads::leading_number;
use crate::preflight::check_declaration::{Check, Context, either_outcome};
use crate::preflight::check_outcome::{PreflightCheckOutcome, WhoCanFix};
use crate::preflight::expectation_document::Transport;

pub(super) static CHECK: Check = Check { id: "PF603", page: include_str!("page.md"), rdma_only: true, judge };

fn judge(context: &Context<'_>) -> PreflightCheckOutcome {
    either_outcome(settings(context))
}

fn settings(context: &Context<'_>) -> Result<PreflightCheckOutcome, PreflightCheckOutcome> {
    let Some(transport) = context.transport() else {
        return Err(PreflightCheckOutcome::unknown("the transport of the profile is not known (see PF001)"));
    };
    let of_ib = matches!(transport, Transport::Roce | Transport::Infiniband);
    for (name, off) in [
        ("NCCL_IB_DISABLE", (|value: &str| leading_number(value) != 0) as fn(&str) -> bool),
        ("NCCL_NET", |value| value.eq_ignore_ascii_case("socket")),
        ("NCCL_NET_PLUGIN", |value| value == "none"),
    ] {
        let matters = if name == "NCCL_IB_DISABLE" { of_ib } else { name == "NCCL_NET" || !of_ib };
        match context.effective_setting(name)? {
            Some((value, place)) if matters && off(&value) => {
                return Ok(PreflightCheckOutcome::fail(
                    WhoCanFix::Configuration,
                    format!(
                        "{name}={value} ({place}): NCCL uses TCP over sockets instead of {}",
                        transport.word()
                    ),
                    format!("Remove {name}."),
                ));
            }
            _ => {}
        }
    }
    Ok(PreflightCheckOutcome::pass("no setting switches RDMA off"))
}
