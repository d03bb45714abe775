//! The GID row that NCCL chooses from 2.21 on, if `NCCL_IB_GID_INDEX` is not set (NVIDIA/nccl 2.27.5
//! src/transport/net_ib.cc, `ncclUpdateGidIndex`). NCCL starts with row 0 and compares it with each later row.

use super::readings::GidRow;
use crate::nccl::numbers_as_nccl_reads::leading_number;
use crate::rdma::Reading;
use crate::rdma::Unreadable;
use crate::rdma::gid::{Gid, GidType};
use core::net::{Ipv4Addr, Ipv6Addr};

/// The variables that steer the choice.
pub(super) const FAMILY: &str = "NCCL_IB_ADDR_FAMILY";
pub(super) const RANGE: &str = "NCCL_IB_ADDR_RANGE";
pub(super) const VERSION: &str = "NCCL_IB_ROCE_VERSION_NUM";

/// What NCCL looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wanted {
    /// IPv6 instead of IPv4.
    pub(super) ipv6: bool,
    /// Address as a number, and length of the prefix. A negative length fits no row.
    range: Option<(u128, i64)>,
    /// Version of RoCE.
    version: i64,
}

impl Wanted {
    /// By the values of the three variables.
    pub(super) fn new(family: Option<&str>, range: Option<&str>, version: Option<&str>) -> Self {
        let ipv6 = family == Some("AF_INET6");
        let version = version.filter(|text| !text.is_empty()).map_or(2, leading_number);
        Self { ipv6, range: range.and_then(|text| address_range(text, ipv6)), version }
    }

    /// Whether an own row of this type fits: NCCL prefers such a row to all others.
    pub(super) fn is_preferred_row(&self, gid: Gid, kind: GidType) -> bool {
        is_ipv6(gid) == self.ipv6 && self.in_range(gid) && number(kind) == self.version
    }

    fn in_range(&self, gid: Gid) -> bool {
        let Some((base, length)) = self.range else { return true };
        let (width, low) = if self.ipv6 { (128, u128::MAX) } else { (32, u128::from(u32::MAX)) };
        let Ok(length) = u32::try_from(length) else { return false };
        let differs = (u128::from_be_bytes(gid.0) ^ base) & low;
        differs.checked_shr(width - length.min(width)).unwrap_or(0) == 0
    }
}

/// An address and the length of its prefix. NCCL ignores a text of another form, and a length beyond the address.
#[must_use]
pub fn address_range(text: &str, ipv6: bool) -> Option<(u128, i64)> {
    let (address, length) = text.split_once('/')?;
    let base = if ipv6 {
        u128::from(address.parse::<Ipv6Addr>().ok()?)
    } else {
        u128::from(u32::from(address.parse::<Ipv4Addr>().ok()?))
    };
    // `strtol` with base 10: a leading zero does not mean octal.
    let length = leading_number(length.trim_start().trim_start_matches('0'));
    (length <= if ipv6 { 128 } else { 32 }).then_some((base, length))
}

/// The row that NCCL chooses from a table.
///
/// # Errors
/// A row, or the type of a row, that NCCL compares and that could not be read.
pub(super) fn row_nccl_chooses(rows: &[GidRow], wanted: &Wanted) -> Reading<u32> {
    let mut chosen = Candidate { index: 0, gid: Gid([0; 16]), kind: Err(&Unreadable::Invalid) };
    // The rows behind the last one that is not empty.
    let empty = Candidate { index: u32::try_from(rows.len()).unwrap_or(u32::MAX), ..chosen };
    let mut candidates = rows.iter().map(|row| match &row.gid {
        Ok(gid) => Ok(Candidate { index: row.index, gid: *gid, kind: row.kind.as_ref().copied() }),
        Err(why) => Err(why.clone()),
    });
    if let Some(first) = candidates.next() {
        chosen = first?;
    }
    for candidate in candidates.chain([Ok(empty)]) {
        let candidate = candidate?;
        if is_ipv6(candidate.gid) != wanted.ipv6 || !wanted.in_range(candidate.gid) {
            continue;
        }
        if is_ipv6(chosen.gid) != wanted.ipv6 {
            chosen = candidate;
        } else if is_valid(candidate.gid) {
            let (before, after) = (chosen.version()?, candidate.version()?);
            if (before != after || !is_valid(chosen.gid)) && after == Some(wanted.version) {
                chosen = candidate;
            }
        }
    }
    Ok(chosen.index)
}

#[derive(Clone, Copy)]
struct Candidate<'r> {
    index: u32,
    gid: Gid,
    kind: Result<GidType, &'r Unreadable>,
}

impl Candidate<'_> {
    /// The version of RoCE; `None` for an empty row, whose type is EINVAL.
    fn version(&self) -> Reading<Option<i64>> {
        match self.kind {
            Ok(kind) => Ok(Some(number(kind))),
            Err(Unreadable::Invalid) => Ok(None),
            Err(why) => Err(why.clone()),
        }
    }
}

fn number(kind: GidType) -> i64 {
    match kind {
        GidType::V1 => 1,
        GidType::V2 => 2,
    }
}

/// Family of a GID as NCCL sees it: a mapped IPv4 address, or a mapped multicast address, is IPv4.
fn is_ipv6(gid: Gid) -> bool {
    !matches!(
        gid.0,
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, ..] | [0xff, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, ..]
    )
}

/// Neither empty nor link-local.
fn is_valid(gid: Gid) -> bool {
    !gid.is_empty() && !matches!(gid.0, [0xfe, 0x80, 0, 0, 0, 0, 0, 0, ..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rdma::gid::gid;

    /// Rows as `ADDRESS VERSION`; `-` is an empty row, `?` a type that cannot be read.
    fn rows(listed: &[&str]) -> Vec<GidRow> {
        let row = |(index, text): (usize, &&str)| {
            let (address, version) = text.split_once(' ').unwrap_or(("::", "-"));
            let address = match address.parse::<core::net::IpAddr>().unwrap() {
                core::net::IpAddr::V4(v4) => v4.to_ipv6_mapped(),
                core::net::IpAddr::V6(v6) => v6,
            };
            GidRow {
                index: u32::try_from(index).unwrap(),
                gid: Ok(Gid(address.octets())),
                kind: match version {
                    "1" => Ok(GidType::V1),
                    "2" => Ok(GidType::V2),
                    "?" => Err(Unreadable::Denied),
                    _ => Err(Unreadable::Invalid),
                },
                interface: Ok("rail0".into()),
            }
        };
        listed.iter().enumerate().map(row).collect()
    }

    #[test]
    fn the_row_that_nccl_takes() {
        let usual = ["fe80::1 1", "fe80::1 2", "10.0.0.5 1", "10.0.0.5 2"];
        let v6 = ["fe80::1 2", "fd02::5 2"];
        let two = ["fe80::1 1", "10.0.0.9 1", "10.0.0.9 2", "192.168.0.5 1", "192.168.0.5 2"];
        let gaps = ["-", "-", "10.0.0.5 1", "10.0.0.5 2"];
        for (table, family, range, version, row) in [
            (&usual[..], None, None, None, 3),
            (&usual, None, None, Some("1"), 2),
            (&usual, None, None, Some("0x2"), 3),
            // No row has this version, so NCCL keeps the first of the family.
            (&usual, None, None, Some("3"), 2),
            (&usual, None, None, Some(""), 3),
            // Nothing in the range: row 0 stays.
            (&usual, None, Some("192.168.0.0/16"), None, 0),
            (&usual, None, Some("10.0.0.0/8"), None, 3),
            (&usual, Some("AF_INET6"), None, None, 0),
            (&v6, Some("AF_INET6"), None, None, 1),
            (&v6, Some("AF_INET6"), Some("fd02::/16"), None, 1),
            (&v6, Some("AF_INET6"), Some("fd03::/16"), None, 0),
            (&v6, None, None, None, 0),
            (&two, None, None, None, 2),
            (&two, None, Some("192.168.0.0/24"), None, 4),
            // Texts that NCCL ignores.
            (&two, None, Some("192.168.0.0"), None, 2),
            (&two, None, Some("192.168.0.0/33"), None, 2),
            (&two, None, Some("fd02::/16"), None, 2),
            (&two, None, Some("192.168.0.0/none"), None, 2),
            (&two, None, Some("192.168.0.0/024"), None, 4),
            (&two, None, Some("192.168.0.0/-1"), None, 0),
            (&gaps, None, None, None, 3),
            // IPv4 only: an empty row behind the table has the other family.
            (&["10.0.0.5 2"], Some("AF_INET6"), None, None, 1),
            // Row 0 stays even out of the range, if it is valid and has the same version.
            (&["10.0.0.9 2", "192.168.0.5 2"], None, Some("192.168.0.0/24"), None, 0),
            (&[], None, None, None, 0),
        ] {
            let wanted = Wanted::new(family, range, version);
            assert_eq!(
                row_nccl_chooses(&rows(table), &wanted),
                Ok(row),
                "{table:?} {family:?} {range:?} {version:?}"
            );
        }
    }

    #[test]
    fn a_type_that_cannot_be_read_leaves_the_choice_unknown() {
        let wanted = Wanted::new(None, None, None);
        let table = rows(&["fe80::1 1", "10.0.0.5 ?", "10.0.0.5 2"]);
        assert_eq!(row_nccl_chooses(&table, &wanted), Err(Unreadable::Denied));
        let mut table = rows(&["fe80::1 1", "10.0.0.5 2"]);
        table[1].gid = gid(b"junk");
        assert!(row_nccl_chooses(&table, &wanted).is_err());
        // NCCL does not compare types of rows of the other family.
        assert_eq!(row_nccl_chooses(&rows(&["fe80::1 ?", "10.0.0.5 2"]), &wanted), Ok(1));
    }

    #[test]
    fn an_own_row_fits_by_family_range_and_version() {
        let wanted = Wanted::new(None, Some("10.0.0.0/8"), None);
        let of = |address: &str| Gid(address.parse::<Ipv4Addr>().unwrap().to_ipv6_mapped().octets());
        assert!(wanted.is_preferred_row(of("10.1.2.3"), GidType::V2));
        assert!(
            !wanted.is_preferred_row(of("10.1.2.3"), GidType::V1)
                && !wanted.is_preferred_row(of("11.1.2.3"), GidType::V2)
        );
    }
}
