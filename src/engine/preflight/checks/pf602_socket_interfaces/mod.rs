//! PF602: `NCCL_SOCKET_IFNAME` against the interfaces.

use crate::nccl::interface_and_device_lists::NameList;
use crate::preflight::check_declaration::{Check, Context, either_outcome, listed, value_or_outcome};
use crate::preflight::check_outcome::{PreflightCheckOutcome, WhoCanFix};

pub(super) static CHECK: Check =
    Check { id: "PF602", page: include_str!("page.md"), rdma_only: false, judge };

fn judge(context: &Context<'_>) -> PreflightCheckOutcome {
    either_outcome(interfaces(context))
}

fn interfaces(context: &Context<'_>) -> Result<PreflightCheckOutcome, PreflightCheckOutcome> {
    let Some((value, place)) = context.effective_setting("NCCL_SOCKET_IFNAME")? else {
        return Ok(PreflightCheckOutcome::off("NCCL_SOCKET_IFNAME is not set"));
    };
    let names: Vec<&str> = value_or_outcome(&context.seen.interfaces, "/sys/class/net")?
        .iter()
        .map(|i| i.name.as_str())
        .collect();
    let list = NameList::parse(&value);
    let setting = format!("NCCL_SOCKET_IFNAME={value} ({place})");
    let taken: Vec<&str> = names.iter().copied().filter(|name| list.chooses_interface(name)).collect();
    if taken.is_empty() {
        return Ok(PreflightCheckOutcome::fail(
            WhoCanFix::Configuration,
            format!("{setting} matches none of {}: NCCL fails at start", listed(&names)),
            "Set the interface of the cluster network, usually eth0.",
        ));
    }
    // NCCL takes only interfaces with an address (NVIDIA/nccl src/misc/socket.cc, findInterfaces).
    let addresses = value_or_outcome(&context.seen.addresses, "addresses of the interfaces")?;
    let with = |name: &&str| addresses.iter().any(|address| address.interface == **name);
    let usable: Vec<&str> = taken.iter().copied().filter(with).collect();
    if usable.is_empty() {
        return Ok(PreflightCheckOutcome::fail(
            WhoCanFix::Configuration,
            format!(
                "{setting} matches only interfaces without an address ({}): NCCL fails at start",
                listed(&taken)
            ),
            "Set the interface of the cluster network, usually eth0, or give this interface an address with IPAM.",
        ));
    }
    Ok(PreflightCheckOutcome::pass(format!("{setting} matches {}", listed(&usable))))
}
