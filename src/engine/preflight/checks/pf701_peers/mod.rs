//! PF701: peers.

use crate::preflight::check_declaration::{Check, Context, Found, Tally, listed};
use crate::preflight::check_outcome::{PreflightCheckOutcome, WhoCanFix};
use crate::text::count_with_noun;

pub(super) static CHECK: Check =
    Check { id: "PF701", page: include_str!("page.md"), rdma_only: false, judge };

fn judge(context: &Context<'_>) -> PreflightCheckOutcome {
    if context.seen.peers.is_empty() {
        return PreflightCheckOutcome::off("preflight knows no peer to connect to (see PF001)");
    }
    let mut tally = Tally::default();
    for (peer, found) in &context.seen.peers {
        tally.add(peer, found.clone().map_err(|why| Found::Bad(format!("cannot be reached: {why}"))));
    }
    if tally.bad.is_empty() {
        return tally.outcome_if_none_is_bad(|good| {
            PreflightCheckOutcome::pass(format!("{} reachable", count_with_noun(good.len(), "peer")))
        });
    }
    // A peer may start later than this pod.
    PreflightCheckOutcome::warn(
        WhoCanFix::Configuration,
        listed(&tally.bad),
        "Check the peer's name, the NetworkPolicies of the namespace, and whether the peer has started.",
    )
}
