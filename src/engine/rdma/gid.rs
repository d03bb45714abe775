//! GIDs, `ports/<port>/gids/N` and `gid_attrs/{types,ndevs}/N`.

use super::why_unreadable::{Reading, Unreadable, line};
use core::net::{IpAddr, Ipv6Addr};

/// A GID: 16 bytes, written like an IPv6 address. The GID of an IPv4 address is `::ffff:a.b.c.d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gid(pub [u8; 16]);

impl Gid {
    /// Whether the row is empty: all zeros, which the kernel returns without an error.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == [0; 16]
    }

    /// The address that the GID of a RoCE port stands for.
    #[must_use]
    pub fn address(self) -> IpAddr {
        let address = Ipv6Addr::from(self.0);
        address.to_ipv4_mapped().map_or(IpAddr::V6(address), IpAddr::V4)
    }

    /// The lower half: on InfiniBand the GUID of the port.
    #[must_use]
    pub fn guid(self) -> [u8; 8] {
        let mut guid = [0; 8];
        guid.iter_mut().zip(self.0.iter().skip(8)).for_each(|(to, from)| *to = *from);
        guid
    }

    /// Whether it is link-local (fe80::/10).
    #[must_use]
    pub fn is_link_local(self) -> bool {
        matches!(self.0, [0xfe, second, ..] if second & 0xc0 == 0x80)
    }
}

/// Reads `gids/N`: eight groups of four hexadecimal digits.
///
/// # Errors
/// Any other form.
pub fn gid(content: &[u8]) -> Reading<Gid> {
    let text = line(content)?;
    let mut bytes = [0_u8; 16];
    let mut groups = text.split(':');
    let hex = |group: &str| {
        let whole = group.len() == 4 && group.bytes().all(|b| b.is_ascii_hexdigit());
        whole.then(|| u16::from_str_radix(group, 16).ok()).flatten()
    };
    for pair in bytes.as_chunks_mut::<2>().0 {
        let group = groups.next().and_then(hex).ok_or_else(|| Unreadable::unexpected_form(content))?;
        *pair = group.to_be_bytes();
    }
    if groups.next().is_none() { Ok(Gid(bytes)) } else { Err(Unreadable::unexpected_form(content)) }
}

/// `gid_attrs/types/N`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GidType {
    /// InfiniBand, or RoCE version 1.
    V1,
    /// RoCE version 2.
    V2,
}

/// Reads `gid_attrs/types/N`: `IB/RoCE v1` or `RoCE v2`. NCCL also accepts `RoCE v1`.
///
/// # Errors
/// Any other word.
pub fn gid_type(content: &[u8]) -> Reading<GidType> {
    match line(content)? {
        "IB/RoCE v1" | "RoCE v1" => Ok(GidType::V1),
        "RoCE v2" => Ok(GidType::V2),
        _ => Err(Unreadable::unexpected_form(content)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_both_families() {
        let v4 = gid(b"0000:0000:0000:0000:0000:ffff:0a98:000c\n").unwrap();
        assert_eq!(v4.address(), "10.152.0.12".parse::<IpAddr>().unwrap());
        let local = gid(b"fe80:0000:0000:0000:c470:bdff:feab:0001").unwrap();
        assert!(local.is_link_local() && !v4.is_link_local() && !local.is_empty());
        assert_eq!(local.guid(), [0xc4, 0x70, 0xbd, 0xff, 0xfe, 0xab, 0, 1]);
        assert!(gid(b"0000:0000:0000:0000:0000:0000:0000:0000").is_ok_and(Gid::is_empty));
        assert_eq!(gid_type(b"RoCE v2\n"), Ok(GidType::V2));
        assert_eq!(gid_type(b"IB/RoCE v1\n"), Ok(GidType::V1));
    }

    #[test]
    fn other_contents_have_a_reason() {
        for junk in [
            &b""[..],
            b"::1",
            b"0000:0000:0000:0000:0000:0000:0000",
            b"0000:0000:0000:0000:0000:0000:0000:0000:0000",
            b"0000:0000:0000:0000:0000:0000:0000:000g",
            b"\x00\x00",
        ] {
            assert!(gid(junk).is_err() && gid_type(junk).is_err(), "{junk:?}");
        }
    }
}
