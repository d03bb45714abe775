//! PF202: a GID of RoCE version 2 that belongs to this pod, on each RoCE port.

use crate::preflight::check_declaration::{
    Check, Context, Found, Tally, either_outcome, listed, port_name, value_or_outcome,
};
use crate::preflight::check_outcome::{PreflightCheckOutcome, WhoCanFix};
use crate::preflight::gid_rows::{self, Owner};
use crate::preflight::readings::Port;
use crate::rdma::gid::GidType;
use crate::rdma::interface_addresses::Address;
use crate::rdma::port::LinkLayer;
use crate::text::count_with_noun;

pub(super) static CHECK: Check = Check { id: "PF202", page: include_str!("page.md"), rdma_only: true, judge };

fn judge(context: &Context<'_>) -> PreflightCheckOutcome {
    either_outcome(rows(context))
}

fn rows(context: &Context<'_>) -> Result<PreflightCheckOutcome, PreflightCheckOutcome> {
    let ports = context.ports()?;
    let addresses = value_or_outcome(&context.seen.addresses, "addresses of the interfaces")?;
    let mut tally = Tally::default();
    let mut other_layer = 0;
    for (device, port) in ports {
        match &port.link_layer {
            Ok(LinkLayer::Ethernet) => tally.add(&port_name(device, port), own_row(port, addresses)),
            Ok(_) => other_layer += 1,
            Err(why) => tally.add(&port_name(device, port), Err(why.into())),
        }
    }
    if tally.bad.is_empty() {
        let empty = tally.good.is_empty();
        let outcome = tally.outcome_if_none_is_bad(|good| {
            PreflightCheckOutcome::pass(format!(
                "{} with a RoCE v2 GID of this pod",
                count_with_noun(good.len(), "port")
            ))
        });
        return Ok(match other_layer {
            0 => outcome,
            _ if empty => PreflightCheckOutcome::off("only RoCE needs a GID that is an IP address"),
            _ => outcome,
        });
    }
    Ok(PreflightCheckOutcome::fail(
        WhoCanFix::Configuration,
        format!("{}: RoCE cannot connect", listed(&tally.bad)),
        "Attach a network whose interface is on this NIC (sriov, host-device or macvlan), with an address from IPAM. An interface of the cluster network (veth) has no GIDs.",
    ))
}

/// Whether a row of the port is a usable GID of this pod.
fn own_row(port: &Port, addresses: &[Address]) -> Result<(), Found> {
    let rows = port.gids.as_ref()?;
    let filled = rows.iter().filter(|row| !row.gid.as_ref().is_ok_and(|gid| gid.is_empty()));
    let mut all = 0;
    let (mut first_version, mut link_local, mut foreign, mut unknown) = (false, false, None, None);
    for row in filled {
        all += 1;
        match gid_rows::owner_of_gid_row(row, addresses) {
            Err(why) => unknown = Some(format!("GID row {}: {why}", row.index)),
            Ok(Owner::Other(name)) => foreign = Some(name),
            Ok(Owner::Pod) => match (&row.kind, &row.gid) {
                (_, Ok(gid)) if gid.is_link_local() => link_local = true,
                (Ok(GidType::V2), _) => return Ok(()),
                (Ok(GidType::V1), _) => first_version = true,
                (Err(why), _) => unknown = Some(format!("type of GID row {}: {why}", row.index)),
            },
        }
    }
    Err(match (unknown, foreign) {
        (Some(why), _) => Found::Unknown(why),
        _ if all == 0 => Found::Bad("has an empty GID table".to_owned()),
        _ if first_version => Found::Bad("has GIDs of RoCE v1 only".to_owned()),
        _ if link_local => Found::Bad("has link-local GIDs only: its interface has no address".to_owned()),
        (None, Some(name)) => {
            Found::Bad(format!("has no GID that is an address of this pod (its rows name interface {name})"))
        }
        (None, None) => Found::Bad("has no GID of this pod".to_owned()),
    })
}
