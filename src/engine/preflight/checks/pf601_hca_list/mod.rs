//! PF601: `NCCL_IB_HCA` against the devices.

use crate::nccl::interface_and_device_lists::NameList;
use crate::preflight::check_declaration::{Check, Context, either_outcome, listed, port_name};
use crate::preflight::check_outcome::{PreflightCheckOutcome, WhoCanFix};
use crate::preflight::readings::{Device, Port};
use crate::rdma::port::State;
use crate::text::count_with_noun;

pub(super) static CHECK: Check = Check { id: "PF601", page: include_str!("page.md"), rdma_only: true, judge };

fn judge(context: &Context<'_>) -> PreflightCheckOutcome {
    either_outcome(hcas(context))
}

fn hcas(context: &Context<'_>) -> Result<PreflightCheckOutcome, PreflightCheckOutcome> {
    let Some((value, place)) = context.effective_setting("NCCL_IB_HCA")? else {
        return Ok(PreflightCheckOutcome::off("NCCL_IB_HCA is not set"));
    };
    let ports = context.ports()?;
    let list = NameList::parse(&value);
    let setting = format!("NCCL_IB_HCA={value} ({place})");
    // NCCL skips ports that are not ACTIVE (see PF102).
    let works = |(_, port): &&(&Device, &Port)| port.state.as_ref().ok().is_none_or(|s| *s == State::Active);
    let working: Vec<_> = ports.iter().filter(works).copied().collect();
    if working.is_empty() {
        return Err(PreflightCheckOutcome::unknown("no usable RDMA device has an ACTIVE port (see PF102)"));
    }
    let chosen = |(device, port): &&(&Device, &Port)| list.chooses_port(&device.name, port.number);
    let taken = devices(working.iter().filter(chosen));
    if taken.is_empty() {
        let names: Vec<String> = if list.device_and_port_items().any(|(_, port)| port.is_some()) {
            working.iter().map(|(device, port)| port_name(device, port)).collect()
        } else {
            devices(working.iter()).into_iter().map(str::to_owned).collect()
        };
        return Ok(PreflightCheckOutcome::fail(
            WhoCanFix::Configuration,
            format!("{setting} matches none of {}: NCCL uses TCP over sockets", listed(&names)),
            "Remove NCCL_IB_HCA, or set a prefix of the devices' names, such as mlx5.",
        ));
    }
    let uses_only = format!("NCCL uses only {}", count_with_noun(taken.len(), "device"));
    let absent: Vec<String> = list
        .device_and_port_items()
        .filter(|item| {
            !list.excludes && !ports.iter().any(|(d, p)| list.does_item_mean_port(*item, &d.name, p.number))
        })
        .map(|(device, port)| port.map_or_else(|| device.to_owned(), |port| format!("{device}:{port}")))
        .collect();
    if !absent.is_empty() {
        return Ok(PreflightCheckOutcome::warn(
            WhoCanFix::Configuration,
            format!("{setting}: this pod has no {}, so {uses_only}", listed(&absent)),
            "Names of devices differ between nodes. Set a prefix such as mlx5, or let preflight write the list.",
        ));
    }
    // Devices that are missing, down or of another link layer are subjects of PF101, PF102 and PF104.
    let wanted = context.link_layer();
    let fits = |(_, port): &&(&Device, &Port)| {
        wanted
            .as_ref()
            .is_none_or(|(_, wanted)| port.link_layer.as_ref().ok().is_none_or(|layer| layer == wanted))
    };
    let most = devices(working.iter().filter(fits)).len();
    if let Some(expected) = context.expected.devices.map(|n| n as usize)
        && taken.len() < expected.min(most)
    {
        return Ok(PreflightCheckOutcome::warn(
            WhoCanFix::Configuration,
            format!(
                "{setting}: the profile expects {}, but {uses_only}",
                count_with_noun(expected, "device")
            ),
            "Set a prefix that all devices of the fabric have, such as mlx5, or let preflight write the list.",
        ));
    }
    Ok(PreflightCheckOutcome::pass(format!(
        "{setting} matches {} of {}",
        taken.len(),
        count_with_noun(devices(ports.iter()).len(), "device")
    )))
}

/// Names of the devices of some ports, each once.
fn devices<'a>(ports: impl Iterator<Item = &'a (&'a Device, &'a Port)>) -> Vec<&'a str> {
    let mut names: Vec<&str> = ports.map(|(device, _)| device.name.as_str()).collect();
    names.dedup();
    names
}
