//! PF103: rate of the ports.

use crate::preflight::check_declaration::{Check, Context, Found, Tally, either_outcome, listed, port_name};
use crate::preflight::check_outcome::{PreflightCheckOutcome, WhoCanFix};
use crate::rdma::port::State;
use crate::text::count_with_noun;

pub(super) static CHECK: Check = Check { id: "PF103", page: include_str!("page.md"), rdma_only: true, judge };

fn judge(context: &Context<'_>) -> PreflightCheckOutcome {
    either_outcome(rates(context))
}

fn rates(context: &Context<'_>) -> Result<PreflightCheckOutcome, PreflightCheckOutcome> {
    let ports = context.ports()?;
    // A port that is down prints a low rate.
    let up = ports.iter().filter(|(_, port)| !matches!(port.state, Ok(State::Down)));
    let fastest = ports.iter().filter_map(|(_, port)| port.rate.as_ref().ok()).max();
    let least = context.expected.rate.or_else(|| fastest.map(|rate| rate.gigabits())).unwrap_or(0);
    let mut tally = Tally::default();
    for (device, port) in up {
        let judge = || {
            let rate = port.rate.as_ref()?.gigabits();
            if rate < least { Err(Found::Bad(format!("has {rate} Gbit/s"))) } else { Ok(()) }
        };
        tally.add(&port_name(device, port), judge());
    }
    if !tally.bad.is_empty() {
        let whose = if context.expected.rate.is_some() { "the profile expects" } else { "another port has" };
        let message = format!(
            "{}, but {whose} {least} Gbit/s: all ranks wait for the slowest port",
            listed(&tally.bad)
        );
        let fix = "Check cable, transceiver, switch port and PCIe slot: the link may have fewer lanes or a lower speed than usual.";
        return Ok(match context.expected.rate {
            Some(_) => PreflightCheckOutcome::fail(WhoCanFix::Node, message, fix),
            None => PreflightCheckOutcome::warn(WhoCanFix::Node, message, fix),
        });
    }
    let single = context.expected.rate.is_none() && tally.good.len() == 1;
    Ok(tally.outcome_if_none_is_bad(|good| match single {
        true => PreflightCheckOutcome::unknown(format!(
            "the only port has {least} Gbit/s, and the profile names no rate to compare with"
        )),
        false => PreflightCheckOutcome::pass(format!(
            "{} with {least} Gbit/s or more",
            count_with_noun(good.len(), "port")
        )),
    }))
}
