//! PF203: the GID row that NCCL takes.

use crate::nccl::NcclVersion;
use crate::preflight::check_declaration::{
    Check, Context, Found, Tally, either_outcome, listed, port_name, value_or_outcome,
};
use crate::preflight::check_outcome::{PreflightCheckOutcome, WhoCanFix};
use crate::preflight::gid_choice::{FAMILY, RANGE, VERSION, Wanted, row_nccl_chooses};
use crate::preflight::gid_rows::{self, Owner, own_rows};
use crate::preflight::nccl_conf_lines_from_readings::{
    CHOOSES_ROWS_PAST_GAPS_SINCE, CHOOSES_ROWS_UP_TO_GAP_SINCE,
};
use crate::preflight::readings::Port;
use crate::rdma::gid::GidType;
use crate::rdma::interface_addresses::Address;
use crate::rdma::port::LinkLayer;

pub(super) static CHECK: Check = Check { id: "PF203", page: include_str!("page.md"), rdma_only: true, judge };

fn judge(context: &Context<'_>) -> PreflightCheckOutcome {
    either_outcome(row(context))
}

/// How NCCL finds the row.
enum Way {
    /// A number that is set.
    Set(u32),
    /// Row 0, in versions before 2.21.
    First,
    /// NCCL chooses, and stops at an empty row.
    Stops(Wanted),
    /// NCCL chooses.
    Chooses(Wanted),
}

/// A row of this pod that NCCL takes.
enum Reach {
    Everywhere,
    /// RoCE v1 has no IP header, so routers drop it.
    Segment(u32),
}

fn row(context: &Context<'_>) -> Result<PreflightCheckOutcome, PreflightCheckOutcome> {
    let ports = context.ports()?;
    let addresses = value_or_outcome(&context.seen.addresses, "addresses of the interfaces")?;
    let roce = ports.iter().filter(|(_, port)| port.link_layer == Ok(LinkLayer::Ethernet));
    let mut roce = roce.peekable();
    if roce.peek().is_none() {
        return Ok(match ports.iter().find_map(|(_, port)| port.link_layer.as_ref().err()) {
            Some(why) => PreflightCheckOutcome::unknown(format!("link layer: {why}")),
            None => PreflightCheckOutcome::off("only RoCE needs a GID row"),
        });
    }
    let (way, words) = way(context)?;
    let mut tally = Tally::default();
    let mut segment = Vec::new();
    for (device, port) in roce {
        let found = found(port, addresses, &way);
        if let Ok(Reach::Segment(index)) = found {
            segment.push(format!("{} row {index}", port_name(device, port)));
        }
        tally.add(&port_name(device, port), found.map(drop));
    }
    let fix = match way {
        Way::Set(..) => {
            "Remove NCCL_IB_GID_INDEX and use NCCL 2.26.2 or newer, or set the index of a row that is right on all devices."
        }
        Way::Chooses(..) => {
            "Remove NCCL_IB_ADDR_FAMILY, NCCL_IB_ADDR_RANGE and NCCL_IB_ROCE_VERSION_NUM, or set them to the family and the subnet of the rails' addresses."
        }
        Way::First | Way::Stops(..) => "Use an image with NCCL 2.26.2 or newer, or set NCCL_IB_GID_INDEX.",
    };
    if !tally.bad.is_empty() {
        let message = format!("{words}; {}: ibv_modify_qp fails", listed(&tally.bad));
        return Ok(PreflightCheckOutcome::fail(WhoCanFix::Configuration, message, fix));
    }
    Ok(tally.outcome_if_none_is_bad(|_| match segment.as_slice() {
        [] => PreflightCheckOutcome::pass(format!(
            "{words}: on each port, NCCL finds a RoCE v2 row of this pod"
        )),
        rows => PreflightCheckOutcome::warn(
            WhoCanFix::Configuration,
            format!("{words}; {}: RoCE v1 packets cannot pass a router", listed(rows)),
            fix,
        ),
    }))
}

/// How NCCL finds the row, and the same in words.
fn way(context: &Context<'_>) -> Result<(Way, String), PreflightCheckOutcome> {
    if let Some((index, place)) = context.effective_number("NCCL_IB_GID_INDEX")?
        && index >= 0
    {
        let words = format!("NCCL_IB_GID_INDEX={index} ({place})");
        return Ok((Way::Set(u32::try_from(index).unwrap_or(u32::MAX)), words));
    }
    let version: NcclVersion = value_or_outcome(&context.seen.image.nccl, "version of NCCL")?.0;
    if version < CHOOSES_ROWS_UP_TO_GAP_SINCE {
        return Ok((Way::First, format!("NCCL {version} uses GID row 0")));
    }
    let mut set = Vec::new();
    let mut value = |name: &str| -> Result<Option<String>, PreflightCheckOutcome> {
        let found = context.effective_setting(name)?;
        set.extend(found.as_ref().map(|(value, place)| format!("{name}={value} ({place})")));
        Ok(found.map(|(value, _)| value))
    };
    let (family, range, roce) = (value(FAMILY)?, value(RANGE)?, value(VERSION)?);
    let wanted = Wanted::new(family.as_deref(), range.as_deref(), roce.as_deref());
    let by = if set.is_empty() { String::new() } else { format!(" by {}", set.join(" and ")) };
    let words = format!("NCCL {version} chooses the GID row{by}");
    Ok((
        if version < CHOOSES_ROWS_PAST_GAPS_SINCE { Way::Stops(wanted) } else { Way::Chooses(wanted) },
        words,
    ))
}

fn found(port: &Port, addresses: &[Address], way: &Way) -> Result<Reach, Found> {
    let rows = port.gids.as_ref()?;
    let index = match way {
        Way::Set(index) => *index,
        Way::First => 0,
        Way::Stops(wanted) | Way::Chooses(wanted) => {
            // A row that could not be read may be the one that NCCL takes.
            if let Some(why) = rows.iter().find_map(|row| row.gid.as_ref().err()) {
                return Err(Found::from(why));
            }
            let gap = rows.iter().any(|row| row.gid.as_ref().is_ok_and(|gid| gid.is_empty()));
            if gap && matches!(way, Way::Stops(..)) {
                return Err(Found::Bad(
                    "has an empty GID row before the row of this pod (this version of NCCL stops there)"
                        .to_owned(),
                ));
            }
            let unread = |why| Found::Unknown(format!("a GID row or its type: {why}"));
            let row = row_nccl_chooses(rows, wanted).map_err(unread)?;
            if !own_rows(port, addresses).any(|(.., kind)| kind == GidType::V2) {
                return Err(Found::Unknown("has no RoCE v2 GID of this pod (see PF202)".to_owned()));
            }
            row
        }
    };
    let Some(row) = rows.iter().find(|row| row.index == index) else {
        return Err(Found::Bad(format!("row {index} is empty")));
    };
    if row.gid.as_ref()?.is_empty() {
        return Err(Found::Bad(format!("row {index} is empty")));
    }
    match gid_rows::owner_of_gid_row(row, addresses) {
        Err(why) => Err(Found::from(&why)),
        Ok(Owner::Other(name)) => {
            Err(Found::Bad(format!("row {index} (interface {name}) is not an address of this pod")))
        }
        Ok(Owner::Pod) => match row.kind.as_ref()? {
            GidType::V2 => Ok(Reach::Everywhere),
            GidType::V1 => Ok(Reach::Segment(index)),
        },
    }
}
