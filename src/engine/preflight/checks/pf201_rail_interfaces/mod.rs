//! PF201: the rails' interfaces.

use crate::preflight::check_declaration::{
    Check, Context, Found, Tally, either_outcome, listed, value_or_outcome,
};
use crate::preflight::check_outcome::{PreflightCheckOutcome, WhoCanFix};
use crate::preflight::expectation_document::Transport;
use crate::rdma::interface_addresses::Address;
use crate::text::count_with_noun;
use core::net::IpAddr;

pub(super) static CHECK: Check =
    Check { id: "PF201", page: include_str!("page.md"), rdma_only: false, judge };

fn judge(context: &Context<'_>) -> PreflightCheckOutcome {
    either_outcome(rails(context))
}

fn rails(context: &Context<'_>) -> Result<PreflightCheckOutcome, PreflightCheckOutcome> {
    let rails = context.rails()?;
    // RoCE connects to addresses; InfiniBand does not need one.
    let needs_address = matches!(
        context.transport(),
        Some(Transport::Roce | Transport::Ethernet | Transport::Tcpx | Transport::Tcpxo)
    );
    let mut missing = Vec::new();
    let mut tally = Tally::default();
    let mut node = false;
    for name in rails {
        let Some(interface) = context.interface(name)? else {
            missing.push(name.as_str());
            continue;
        };
        let down = interface
            .operstate
            .as_ref()
            .is_ok_and(|state| matches!(state.as_str(), "down" | "lowerlayerdown"));
        node |= down;
        let judge = || {
            interface.operstate.as_ref()?;
            if down {
                return Err(Found::Bad("is down".to_owned()));
            }
            let addresses = context.seen.addresses.as_ref();
            if needs_address && !addresses?.iter().any(|a| a.interface == *name && is_global(a)) {
                return Err(Found::Bad("has no address".to_owned()));
            }
            Ok(())
        };
        tally.add(name, judge());
    }
    if !missing.is_empty() {
        let all = value_or_outcome(&context.seen.interfaces, "/sys/class/net")?;
        let present: Vec<&str> = all.iter().map(|i| i.name.as_str()).filter(|name| *name != "lo").collect();
        return Ok(PreflightCheckOutcome::fail(
            WhoCanFix::Configuration,
            format!("no interface {}; the pod has {}", listed(&missing), listed(&present)),
            "Check the pod's annotation k8s.v1.cni.cncf.io/networks and the events of Multus.",
        ));
    }
    if tally.bad.is_empty() {
        return Ok(tally.outcome_if_none_is_bad(|good| {
            let with = if needs_address { "up, with an address" } else { "up" };
            PreflightCheckOutcome::pass(format!("{} {with}", count_with_noun(good.len(), "interface")))
        }));
    }
    let fault = if node { WhoCanFix::Node } else { WhoCanFix::Configuration };
    Ok(PreflightCheckOutcome::fail(
        fault,
        format!("{}: the rail cannot be used", listed(&tally.bad)),
        "Check the IPAM of the network. Check the link of the NIC on the node.",
    ))
}

fn is_global(address: &Address) -> bool {
    match address.address {
        IpAddr::V4(v4) => !v4.is_link_local(),
        IpAddr::V6(v6) => !v6.is_unicast_link_local(),
    }
}
