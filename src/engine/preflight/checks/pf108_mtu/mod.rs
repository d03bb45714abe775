//! PF108: MTU of the rails (RoCE).

use crate::preflight::check_declaration::{Check, Context, Found, Tally, either_outcome, listed};
use crate::preflight::check_outcome::{PreflightCheckOutcome, WhoCanFix};
use crate::preflight::expectation_document::Transport;
use crate::text::count_with_noun;

pub(super) static CHECK: Check = Check { id: "PF108", page: include_str!("page.md"), rdma_only: true, judge };

/// An interface with this MTU carries RDMA packets of 4096 bytes, with the headers of RoCE.
const MIN_MTU_FOR_4096_BYTE_PACKETS: u64 = 4200;

fn judge(context: &Context<'_>) -> PreflightCheckOutcome {
    either_outcome(mtus(context))
}

fn mtus(context: &Context<'_>) -> Result<PreflightCheckOutcome, PreflightCheckOutcome> {
    if context.transport().is_some_and(|transport| transport != Transport::Roce) {
        return Ok(PreflightCheckOutcome::off("only for RoCE"));
    }
    let mut small = Tally::default();
    let mut sizes = Vec::new();
    for name in context.rails()? {
        let Some(interface) = context.interface(name)? else {
            small.add(name, Err(Found::Unknown("does not exist (see PF201)".to_owned())));
            continue;
        };
        if let Ok(mtu) = interface.mtu {
            sizes.push((name.as_str(), mtu));
        }
        let judge = || match *interface.mtu.as_ref()? {
            mtu if mtu < MIN_MTU_FOR_4096_BYTE_PACKETS => Err(Found::Bad(format!("has MTU {mtu}"))),
            _ => Ok(()),
        };
        small.add(name, judge());
    }
    let largest = sizes.iter().map(|(_, mtu)| *mtu).max().unwrap_or(0);
    let differing: Vec<String> = sizes
        .iter()
        .filter(|(_, mtu)| *mtu != largest)
        .map(|(name, mtu)| format!("{name} has MTU {mtu}"))
        .collect();
    if !differing.is_empty() {
        return Ok(PreflightCheckOutcome::warn(
            WhoCanFix::Configuration,
            format!(
                "{}, but another rail has MTU {largest}: connections between rails may fail",
                listed(&differing)
            ),
            "Set the same MTU on all rails and their switches.",
        ));
    }
    if !small.bad.is_empty() {
        return Ok(PreflightCheckOutcome::warn(
            WhoCanFix::Configuration,
            format!(
                "{}: RDMA packets are smaller than 4096 bytes, which costs bandwidth",
                listed(&small.bad)
            ),
            "Set MTU 9000 on the rails and on the switches, if the fabric supports it.",
        ));
    }
    Ok(small.outcome_if_none_is_bad(|good| {
        PreflightCheckOutcome::pass(format!("{} with MTU {largest}", count_with_noun(good.len(), "rail")))
    }))
}
