//! PF106: LID, Subnet Manager and P_Keys of InfiniBand ports.

use crate::preflight::check_declaration::{Check, Context, Found, Tally, either_outcome, listed, port_name};
use crate::preflight::check_outcome::{PreflightCheckOutcome, WhoCanFix};
use crate::preflight::readings::Port;
use crate::rdma::port::LinkLayer;
use crate::text::count_with_noun;

pub(super) static CHECK: Check = Check { id: "PF106", page: include_str!("page.md"), rdma_only: true, judge };

/// Bit of a P_Key with full membership.
const FULL: u16 = 0x8000;

fn judge(context: &Context<'_>) -> PreflightCheckOutcome {
    either_outcome(subnet(context))
}

fn subnet(context: &Context<'_>) -> Result<PreflightCheckOutcome, PreflightCheckOutcome> {
    let ports = context.ports()?;
    let row = context.effective_number("NCCL_IB_PKEY")?;
    let mut fabric = Tally::default();
    let mut keys = Tally::default();
    for (device, port) in &ports {
        match &port.link_layer {
            Ok(LinkLayer::InfiniBand) => {
                fabric.add(&port_name(device, port), managed(port));
                keys.add(&port_name(device, port), full_member(port, row.map_or(0, |(row, _)| row)));
            }
            Ok(_) => {}
            Err(why) => fabric.add(&port_name(device, port), Err(why.into())),
        }
    }
    if ports.iter().all(|(_, port)| matches!(port.link_layer, Ok(LinkLayer::Ethernet | LinkLayer::Unknown))) {
        return Ok(PreflightCheckOutcome::off("no InfiniBand port"));
    }
    if !keys.bad.is_empty() {
        return Ok(PreflightCheckOutcome::fail(
            WhoCanFix::Configuration,
            format!("{}{}: NCCL cannot connect over this port", listed(&keys.bad), chosen_by(row)),
            "Give the port's GUID a full membership in the partition (Subnet Manager, or ib-kubernetes for VFs), or set NCCL_IB_PKEY to the row of the right P_Key.",
        ));
    }
    if !fabric.bad.is_empty() {
        return Ok(PreflightCheckOutcome::warn(
            WhoCanFix::Node,
            listed(&fabric.bad),
            "Check that a Subnet Manager runs, and that it knows the GUID of the port.",
        ));
    }
    Ok(fabric.outcome_if_none_is_bad(|good| {
        keys.outcome_if_none_is_bad(|_| {
            let (ports, by) = (count_with_noun(good.len(), "port"), chosen_by(row));
            PreflightCheckOutcome::pass(format!("{ports} with LID, Subnet Manager and a full P_Key{by}"))
        })
    }))
}

fn managed(port: &Port) -> Result<(), Found> {
    match (port.lid.as_ref()?, port.sm_lid.as_ref()?) {
        (0, _) => Err(Found::Bad("has LID 0: no Subnet Manager has configured the port".to_owned())),
        (_, 0) => Err(Found::Bad("knows no Subnet Manager (sm_lid 0)".to_owned())),
        _ => Ok(()),
    }
}

/// NCCL takes the P_Key of row 0, unless `NCCL_IB_PKEY` names another row (NVIDIA/nccl src/transport/net_ib.cc,
/// `NCCL_PARAM(IbPkey, "IB_PKEY", 0)`). A full membership in another row does not help.
fn full_member(port: &Port, row: i64) -> Result<(), Found> {
    let rows = port.pkeys.as_ref()?;
    match rows.iter().find(|(index, _)| i64::from(*index) == row) {
        Some((_, key)) if *key.as_ref()? & FULL != 0 => Ok(()),
        Some(_) => Err(Found::Bad(format!("is only a limited member of the partition in P_Key row {row}"))),
        None => Err(Found::Bad(format!("has no P_Key in row {row}"))),
    }
}

fn chosen_by(row: Option<(i64, &str)>) -> String {
    row.map_or_else(String::new, |(row, place)| format!(" (NCCL_IB_PKEY={row}, {place})"))
}
