//! PF107: each rail's interface belongs to a usable RDMA device.

use crate::preflight::check_declaration::{Check, Context, Found, Tally, either_outcome, listed};
use crate::preflight::check_outcome::{PreflightCheckOutcome, WhoCanFix};
use crate::preflight::device_of_interface::device_of;
use crate::preflight::expectation_document::Transport;
use crate::preflight::readings::Device;
use crate::rdma::Unreadable;
use crate::text::count_with_noun;

/// Whether the GID rows of every device were read: beyond a number of rows they are not.
fn tables_are_read(devices: &[&Device]) -> bool {
    let mut ports = devices.iter().flat_map(|device| device.ports.iter().flatten());
    ports.all(|port| !matches!(port.gids, Err(Unreadable::NotRead(_))))
}

pub(super) static CHECK: Check = Check { id: "PF107", page: include_str!("page.md"), rdma_only: true, judge };

fn judge(context: &Context<'_>) -> PreflightCheckOutcome {
    either_outcome(rails(context))
}

fn rails(context: &Context<'_>) -> Result<PreflightCheckOutcome, PreflightCheckOutcome> {
    let rails = context.rails()?;
    let usable = context.usable()?;
    if usable.is_empty() {
        return Err(PreflightCheckOutcome::unknown("no usable RDMA device (see PF101)"));
    }
    let mut tally = Tally::default();
    for name in rails {
        let found = match context.interface(name)? {
            None => Err(Found::Unknown("does not exist (see PF201)".to_owned())),
            Some(interface) => match device_of(context.seen, interface) {
                Some(device) if usable.iter().any(|usable| usable.name == device.name) => Ok(()),
                Some(device) => {
                    Err(Found::Bad(format!("belongs to {}, which this pod cannot use", device.name)))
                }
                None if context.transport() == Some(Transport::Roce) && tables_are_read(&usable) => {
                    Err(Found::Bad("belongs to no RDMA device".to_owned()))
                }
                // An IPoIB child's GUID may be that of a VF.
                None if context.transport() == Some(Transport::Roce) => {
                    Err(Found::Unknown("may belong to a device whose GID rows were not read".to_owned()))
                }
                None => Err(Found::Unknown("no RDMA device has the GUID in its hardware address".to_owned())),
            },
        };
        tally.add(name, found);
    }
    if tally.bad.is_empty() {
        return Ok(tally.outcome_if_none_is_bad(|good| {
            PreflightCheckOutcome::pass(format!(
                "{} with a usable RDMA device",
                count_with_noun(good.len(), "interface")
            ))
        }));
    }
    Ok(PreflightCheckOutcome::fail(
        WhoCanFix::Configuration,
        format!("{}: NCCL cannot use RDMA on this rail", listed(&tally.bad)),
        "Request the RDMA resource whose pool has the NICs of the network. The interface and the RDMA device must be on the same NIC.",
    ))
}
