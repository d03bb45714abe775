//! PF106: LID, Subnet Manager and P_Keys of InfiniBand ports.

use crate::preflight::check::{Check, Context, Found, Tally, either, listed, port_name};
use crate::preflight::outcome::{Fault, Outcome};
use crate::preflight::seen::Port;
use crate::rdma::port::LinkLayer;
use crate::text::count;

pub(super) static CHECK: Check = Check { id: "PF106", page: include_str!("page.md"), rdma_only: true, judge };

/// Bit of a P_Key with full membership.
const FULL: u16 = 0x8000;

fn judge(context: &Context<'_>) -> Outcome {
    either(subnet(context))
}

fn subnet(context: &Context<'_>) -> Result<Outcome, Outcome> {
    let ports = context.ports()?;
    let mut fabric = Tally::default();
    let mut keys = Tally::default();
    for (device, port) in &ports {
        match &port.link_layer {
            Ok(LinkLayer::InfiniBand) => {
                fabric.add(&port_name(device, port), managed(port));
                keys.add(&port_name(device, port), full_member(port));
            }
            Ok(_) => {}
            Err(why) => fabric.add(&port_name(device, port), Err(why.into())),
        }
    }
    if ports.iter().all(|(_, port)| matches!(port.link_layer, Ok(LinkLayer::Ethernet | LinkLayer::Unknown))) {
        return Ok(Outcome::off("no InfiniBand port"));
    }
    if !keys.bad.is_empty() {
        return Ok(Outcome::fail(
            Fault::Configuration,
            format!("{}: NCCL cannot connect over this port", listed(&keys.bad)),
            "Give the port's GUID a full membership in the partition (Subnet Manager, or ib-kubernetes for VFs), or set NCCL_IB_PKEY to the row of the right P_Key.",
        ));
    }
    if !fabric.bad.is_empty() {
        return Ok(Outcome::warn(
            Fault::Node,
            listed(&fabric.bad),
            "Check that a Subnet Manager runs, and that it knows the GUID of the port.",
        ));
    }
    Ok(fabric.without_bad(|good| {
        keys.without_bad(|_| {
            Outcome::pass(format!("{} with LID, Subnet Manager and a full P_Key", count(good.len(), "port")))
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

/// NCCL takes the P_Key of row 0, unless `NCCL_IB_PKEY` names another row.
fn full_member(port: &Port) -> Result<(), Found> {
    let rows = port.pkeys.as_ref()?;
    let mut limited = false;
    for (_, row) in rows {
        match row.as_ref()? {
            key if key & FULL != 0 => return Ok(()),
            _ => limited = true,
        }
    }
    Err(Found::Bad(
        if limited { "is only a limited member of its partitions" } else { "has no P_Key" }.to_owned(),
    ))
}
