//! PF203: the GID row that NCCL takes.

use crate::nccl::NcclVersion;
use crate::preflight::check::{Check, Context, Found, Tally, either, listed, port_name, read};
use crate::preflight::conf::{CHOOSES_ROWS, CHOOSES_ROWS_WITHOUT_GAPS};
use crate::preflight::gid_rows::{self, Owner, own_rows};
use crate::preflight::outcome::{Fault, Outcome};
use crate::preflight::seen::Port;
use crate::rdma::addresses::Address;
use crate::rdma::gid::GidType;
use crate::rdma::port::LinkLayer;

pub(super) static CHECK: Check = Check { id: "PF203", page: include_str!("page.md"), rdma_only: true, judge };

fn judge(context: &Context<'_>) -> Outcome {
    either(row(context))
}

/// How NCCL finds the row.
enum Way {
    /// A number that is set, and where.
    Set(u32, &'static str),
    /// Row 0, in versions before 2.21.
    First(NcclVersion),
    /// NCCL chooses, and stops at an empty row.
    Stops(NcclVersion, bool),
    /// NCCL chooses.
    Chooses(NcclVersion, bool),
}

fn row(context: &Context<'_>) -> Result<Outcome, Outcome> {
    let ports = context.ports()?;
    let addresses = read(&context.seen.addresses, "addresses of the interfaces")?;
    let roce = ports.iter().filter(|(_, port)| port.link_layer == Ok(LinkLayer::Ethernet));
    let mut roce = roce.peekable();
    if roce.peek().is_none() {
        return Ok(match ports.iter().find_map(|(_, port)| port.link_layer.as_ref().err()) {
            Some(why) => Outcome::unknown(format!("link layer: {why}")),
            None => Outcome::off("only RoCE needs a GID row"),
        });
    }
    let way = way(context)?;
    let mut tally = Tally::default();
    for (device, port) in roce {
        tally.add(&port_name(device, port), found(port, addresses, &way));
    }
    let words = match &way {
        Way::Set(index, place) => format!("NCCL_IB_GID_INDEX={index} ({place})"),
        Way::First(version) => format!("NCCL {version} takes row 0"),
        Way::Stops(version, _) | Way::Chooses(version, _) => format!("NCCL {version} chooses the row"),
    };
    if tally.bad.is_empty() {
        return Ok(
            tally.without_bad(|_| Outcome::pass(format!("{words}: a RoCE v2 row of this pod on each port")))
        );
    }
    let fix = match way {
        Way::Set(..) => {
            "Remove NCCL_IB_GID_INDEX and use NCCL 2.26.2 or newer, or set the row that is right on all devices."
        }
        Way::Chooses(..) => {
            "Set NCCL_IB_ADDR_FAMILY to the family of the rails' addresses (AF_INET or AF_INET6)."
        }
        Way::First(_) | Way::Stops(..) => "Use an image with NCCL 2.26.2 or newer, or set NCCL_IB_GID_INDEX.",
    };
    Ok(Outcome::fail(
        Fault::Configuration,
        format!("{words}; {}: ibv_modify_qp fails", listed(&tally.bad)),
        fix,
    ))
}

fn way(context: &Context<'_>) -> Result<Way, Outcome> {
    if let Some((text, place)) = context.setting("NCCL_IB_GID_INDEX") {
        match text.trim().parse::<i64>() {
            Ok(index) if index >= 0 => return Ok(Way::Set(u32::try_from(index).unwrap_or(u32::MAX), place)),
            Ok(_) => {}
            Err(_) => {
                return Err(Outcome::unknown(format!(
                    "NCCL_IB_GID_INDEX={text:?} ({place}) is not a number"
                )));
            }
        }
    }
    let family = context.setting("NCCL_IB_ADDR_FAMILY").map(|(value, _)| value);
    let v6 = family.as_deref() == Some("AF_INET6");
    match &context.seen.image.nccl {
        Ok((version, _)) if *version >= CHOOSES_ROWS => Ok(Way::Chooses(*version, v6)),
        Ok((version, _)) if *version >= CHOOSES_ROWS_WITHOUT_GAPS => Ok(Way::Stops(*version, v6)),
        Ok((version, _)) => Ok(Way::First(*version)),
        Err(why) => Err(Outcome::unknown(format!("version of NCCL: {why}"))),
    }
}

fn found(port: &Port, addresses: &[Address], way: &Way) -> Result<(), Found> {
    let rows = port.gids.as_ref()?;
    let index = match way {
        Way::Set(index, _) => *index,
        Way::First(_) => 0,
        Way::Stops(_, v6) | Way::Chooses(_, v6) => {
            // Rows whose reading failed leave the choice unknown.
            if let Some(why) = rows.iter().find_map(|row| row.gid.as_ref().err()) {
                return Err(Found::from(why));
            }
            let gap = rows.iter().any(|row| row.gid.as_ref().is_ok_and(|gid| gid.is_empty()));
            if gap && matches!(way, Way::Stops(..)) {
                return Err(Found::Bad(
                    "has an empty row before its own, at which this version stops".to_owned(),
                ));
            }
            let own = own_rows(port, addresses, GidType::V2);
            if own.iter().any(|(_, address)| address.is_ipv6() == *v6) {
                return Ok(());
            }
            let filled = rows.iter().filter(|row| !row.gid.as_ref().is_ok_and(|gid| gid.is_empty()));
            if let Some(why) = filled.filter_map(|row| row.kind.as_ref().err()).next() {
                return Err(Found::from(why));
            }
            let (wanted, other) = if *v6 { ("IPv6", "IPv4") } else { ("IPv4", "IPv6") };
            return Err(match own.as_slice() {
                [] => Found::Unknown("has no RoCE v2 GID of this pod (see PF202)".to_owned()),
                _ => Found::Bad(format!("has {other} GIDs of this pod, and NCCL looks for {wanted}")),
            });
        }
    };
    let Some(row) = rows.iter().find(|row| row.index == index) else {
        return Err(Found::Bad(format!("row {index} is empty")));
    };
    if row.gid.as_ref()?.is_empty() {
        return Err(Found::Bad(format!("row {index} is empty")));
    }
    match gid_rows::owner(row, addresses) {
        Err(why) => Err(Found::from(&why)),
        Ok(Owner::Other(name)) => {
            Err(Found::Bad(format!("row {index} belongs to interface {name} of another pod")))
        }
        Ok(Owner::Pod) => match row.kind.as_ref()? {
            GidType::V2 => Ok(()),
            GidType::V1 => Err(Found::Bad(format!("row {index} is RoCE v1"))),
        },
    }
}
