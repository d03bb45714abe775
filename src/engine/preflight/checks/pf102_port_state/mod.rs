//! PF102: state of the ports.

use crate::preflight::check_declaration::{Check, Context, Found, Tally, either_outcome, listed, port_name};
use crate::preflight::check_outcome::{PreflightCheckOutcome, WhoCanFix};
use crate::preflight::readings::{Device, Port};
use crate::rdma::port::{LinkLayer, State};
use crate::text::count_with_noun;

pub(super) static CHECK: Check = Check { id: "PF102", page: include_str!("page.md"), rdma_only: true, judge };

fn judge(context: &Context<'_>) -> PreflightCheckOutcome {
    either_outcome(states(context))
}

fn states(context: &Context<'_>) -> Result<PreflightCheckOutcome, PreflightCheckOutcome> {
    let ports = context.ports()?;
    if ports.iter().all(|(_, port)| port.link_layer == Ok(LinkLayer::Unknown)) {
        return Ok(PreflightCheckOutcome::off("ports of EFA are always ACTIVE, also if the link is down"));
    }
    let mut tally = Tally::default();
    let mut other_port_active = Vec::new();
    for (device, port) in &ports {
        let found = active(port);
        // A device with two ports may have a cable in one only.
        let second = |(other, port): &(&Device, &Port)| std::ptr::eq(*other, *device) && active(port).is_ok();
        if matches!(found, Err(Found::Bad(_))) && ports.iter().any(second) {
            other_port_active.push(port_name(device, port));
        } else {
            tally.add(&port_name(device, port), found);
        }
    }
    if !tally.bad.is_empty() {
        return Ok(PreflightCheckOutcome::fail(
            WhoCanFix::Node,
            format!("{}: NCCL cannot use a port that is not ACTIVE", listed(&tally.bad)),
            "Check cable, transceiver and switch port of the node. On InfiniBand, check that a Subnet Manager runs.",
        ));
    }
    Ok(tally.outcome_if_none_is_bad(|good| {
        if other_port_active.is_empty() {
            return PreflightCheckOutcome::pass(format!(
                "{} ACTIVE ({})",
                count_with_noun(good.len(), "port"),
                listed(good)
            ));
        }
        PreflightCheckOutcome::warn(
            WhoCanFix::Node,
            format!(
                "{}: not ACTIVE, but another port of the same device is ACTIVE",
                listed(&other_port_active)
            ),
            "If both ports of the device should be connected, check cable and switch port.",
        )
    }))
}

fn active(port: &Port) -> Result<(), Found> {
    let state = port.state.as_ref()?;
    if *state != State::Active {
        let physical = port.physical_state.as_ref().map(|p| format!(" ({})", p.word)).unwrap_or_default();
        return Err(Found::Bad(format!("is {}{physical}", state.word())));
    }
    match port.physical_state.as_ref()? {
        physical if physical.is_up() => Ok(()),
        physical => Err(Found::Bad(format!("is ACTIVE, but the link is {}", physical.word))),
    }
}
