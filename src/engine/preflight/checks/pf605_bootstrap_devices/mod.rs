//! PF605: `NCCL_OOB_NET_IFNAME` against the devices.

use crate::nccl::NcclVersion;
use crate::nccl::interface_and_device_lists::NameList;
use crate::preflight::check_declaration::{Check, Context, either_outcome, listed, value_or_outcome};
use crate::preflight::check_outcome::{PreflightCheckOutcome, WhoCanFix};
use crate::preflight::expectation_document::Transport;

pub(super) static CHECK: Check =
    Check { id: "PF605", page: include_str!("page.md"), rdma_only: false, judge };

/// Before this version, NCCL ignores a list that matches no device (NVIDIA/nccl src/bootstrap.cc).
const FAILS_WITHOUT_MATCH_SINCE: NcclVersion = NcclVersion(2, 24, 0);

fn judge(context: &Context<'_>) -> PreflightCheckOutcome {
    either_outcome(devices(context))
}

fn devices(context: &Context<'_>) -> Result<PreflightCheckOutcome, PreflightCheckOutcome> {
    const NAME: &str = "NCCL_OOB_NET_IFNAME";
    let set = context.effective_setting(NAME)?.filter(|(value, _)| !value.is_empty());
    let Some((value, place)) = set else {
        return Ok(PreflightCheckOutcome::off(format!("{NAME} is not set")));
    };
    if context.effective_number("NCCL_OOB_NET_ENABLE")?.is_none_or(|(number, _)| number == 0) {
        return Ok(PreflightCheckOutcome::off(format!("{NAME} has no effect without NCCL_OOB_NET_ENABLE=1")));
    }
    let setting = format!("{NAME}={value} ({place})");
    let names: Vec<&str> = match context.transport() {
        Some(Transport::Roce | Transport::Infiniband) => {
            let hcas = context.effective_setting("NCCL_IB_HCA")?.map(|(value, _)| value).unwrap_or_default();
            let usable = context.usable()?.into_iter().map(|device| device.name.as_str());
            usable.filter(|name| NameList::parse(&hcas).chooses_device(name)).collect()
        }
        Some(Transport::Ethernet) => value_or_outcome(&context.seen.interfaces, "/sys/class/net")?
            .iter()
            .map(|i| i.name.as_str())
            .collect(),
        _ => {
            return Err(PreflightCheckOutcome::unknown(format!(
                "{setting}: the names of the plugin's devices are not known"
            )));
        }
    };
    if names.is_empty() {
        return Err(PreflightCheckOutcome::unknown(format!(
            "{setting}: NCCL has no device (see PF101 and PF601)"
        )));
    }
    let taken = names.iter().find(|name| NameList::parse(&value).chooses_device(name));
    if let Some(taken) = taken {
        return Ok(PreflightCheckOutcome::pass(format!("{setting} matches {taken}")));
    }
    let fix =
        "Remove NCCL_OOB_NET_IFNAME, or set a prefix of the names of NCCL's network devices, such as mlx5.";
    let none = format!("{setting} matches none of {}", listed(&names));
    Ok(match value_or_outcome(&context.seen.image.nccl, "version of NCCL") {
        Ok((version, _)) if *version >= FAILS_WITHOUT_MATCH_SINCE => PreflightCheckOutcome::fail(
            WhoCanFix::Configuration,
            format!("{none}: NCCL {version} fails at start"),
            fix,
        ),
        Ok((version, _)) => PreflightCheckOutcome::warn(
            WhoCanFix::Configuration,
            format!("{none}: NCCL {version} uses the first device"),
            fix,
        ),
        Err(_) => PreflightCheckOutcome::warn(
            WhoCanFix::Configuration,
            format!("{none}: NCCL from 2.24 on fails at start"),
            fix,
        ),
    })
}
