//! PF104: link layer of the ports.

use crate::preflight::check_declaration::{Check, Context, Found, Tally, either_outcome, listed, port_name};
use crate::preflight::check_outcome::{PreflightCheckOutcome, WhoCanFix};
use crate::text::count_with_noun;

pub(super) static CHECK: Check = Check { id: "PF104", page: include_str!("page.md"), rdma_only: true, judge };

fn judge(context: &Context<'_>) -> PreflightCheckOutcome {
    either_outcome(layers(context))
}

fn layers(context: &Context<'_>) -> Result<PreflightCheckOutcome, PreflightCheckOutcome> {
    let Some((transport, wanted)) = context.link_layer() else {
        return Ok(PreflightCheckOutcome::unknown("the transport of the profile is not known (see PF001)"));
    };
    let mut tally = Tally::default();
    for (device, port) in context.ports()? {
        let judge = || match port.link_layer.as_ref()? {
            layer if *layer == wanted => Ok(()),
            layer => Err(Found::Bad(format!("has link layer {}", layer.word()))),
        };
        tally.add(&port_name(device, port), judge());
    }
    if tally.bad.is_empty() {
        return Ok(tally.outcome_if_none_is_bad(|good| {
            PreflightCheckOutcome::pass(format!(
                "{} with link layer {}",
                count_with_noun(good.len(), "port"),
                wanted.word()
            ))
        }));
    }
    // Where some ports are right, the node differs from the others of its pool.
    let fault = if tally.good.is_empty() { WhoCanFix::Configuration } else { WhoCanFix::Node };
    Ok(PreflightCheckOutcome::fail(
        fault,
        format!("{}, but transport {transport} needs {}", listed(&tally.bad), wanted.word()),
        "Request the RDMA resource of this transport, or set the link type of the NIC (mlxconfig LINK_TYPE_P1).",
    ))
}
