//! Which rows of a GID table belong to this pod.

use super::readings::{GidRow, Port};
use crate::rdma::Unreadable;
use crate::rdma::gid::{Gid, GidType};
use crate::rdma::interface_addresses::Address;

/// Whose row it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Owner {
    Pod,
    /// Another network namespace; the interface that the row names.
    Other(String),
}

/// Whose row it is. The kernel does not filter rows by network namespace, so the row of another pod may name an interface
/// that exists here too: both the interface and the address must be ours.
pub(super) fn owner_of_gid_row(row: &GidRow, addresses: &[Address]) -> Result<Owner, Unreadable> {
    let gid = row.gid.clone()?;
    let interface = row.interface.clone()?;
    let ours = addresses.iter().any(|a| a.interface == interface && a.address == gid.address());
    Ok(if ours { Owner::Pod } else { Owner::Other(interface) })
}

/// Rows that belong to this pod and are not link-local.
pub(super) fn own_rows(port: &Port, addresses: &[Address]) -> impl Iterator<Item = (u32, Gid, GidType)> {
    let rows = port.gids.as_deref().unwrap_or_default();
    let own = rows.iter().filter(|row| owner_of_gid_row(row, addresses) == Ok(Owner::Pod));
    own.filter_map(|row| {
        let gid = row.gid.as_ref().ok().filter(|gid| !gid.is_link_local())?;
        Some((row.index, *gid, *row.kind.as_ref().ok()?))
    })
}
