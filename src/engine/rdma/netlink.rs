//! Messages of netlink: the RDMA family's namespace mode (linux `drivers/infiniband/core/nldev.c`,
//! `include/uapi/rdma/rdma_netlink.h`) and the addresses of interfaces (rtnetlink(7)). Requests out, answers in.

use super::interface_addresses::Address;
use super::why_unreadable::{Reading, Unreadable};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// `NETLINK_RDMA`.
pub const RDMA_FAMILY: u32 = 20;
/// `NETLINK_ROUTE`.
pub const ROUTE_FAMILY: u32 = 0;

const REQUEST: u16 = 1;
const DUMP: u16 = 0x300;
const ERROR: u16 = 2;
pub(super) const DONE: u16 = 3;
/// `RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_SYS_GET)`: client 5, command 6.
const SYS_GET: u16 = 5 << 10 | 6;
/// `RDMA_NLDEV_SYS_ATTR_NETNS_MODE`.
const NETNS_MODE: u16 = 66;
const GET_ADDRESS: u16 = 22;
const NEW_ADDRESS: u16 = 20;
const ADDRESS: u16 = 1;
const LOCAL: u16 = 2;

/// Whether RDMA devices belong to network namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamespaceMode {
    /// Every namespace sees all devices of the node; the kernel's default.
    Shared,
    /// A namespace sees only the devices that were moved into it.
    Exclusive,
}

/// A request: header and body.
pub(super) fn encode_request(kind: u16, flags: u16, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(16 + body.len()).unwrap_or(u32::MAX);
    let mut message = Vec::with_capacity(16 + body.len());
    message.extend(length.to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend((REQUEST | flags).to_ne_bytes());
    message.extend([1, 0, 0, 0]);
    message.extend([0; 4]);
    message.extend(body);
    message
}

/// Asks for the mode of RDMA namespaces. Needs no privilege.
#[must_use]
pub fn mode_request() -> Vec<u8> {
    encode_request(SYS_GET, 0, &[])
}

/// Asks for all addresses of the network namespace. Needs no privilege.
#[must_use]
pub fn addresses_request() -> Vec<u8> {
    encode_request(GET_ADDRESS, DUMP, &[0; 8])
}

/// Reads the answer to [`mode_request`].
///
/// # Errors
/// The kernel's error, or an answer without the attribute.
pub fn parse_namespace_mode(answer: &[u8]) -> Reading<NamespaceMode> {
    for message in messages(answer) {
        if let Some(error) = message.error() {
            return Err(error);
        }
        if message.kind != SYS_GET {
            continue;
        }
        for (kind, value) in attributes(message.body) {
            match (kind, value) {
                (NETNS_MODE, [0, ..]) => return Ok(NamespaceMode::Exclusive),
                (NETNS_MODE, [1, ..]) => return Ok(NamespaceMode::Shared),
                (NETNS_MODE, other) => return Err(Unreadable::unexpected_form(other)),
                _ => {}
            }
        }
    }
    Err(Unreadable::NotRead("the kernel's answer has no namespace mode"))
}

/// An address: index of its interface, the address, length of the subnet's prefix.
pub type Found = (u32, IpAddr, u8);

/// A part of the answer to [`addresses_request`]: addresses with the indices of their interfaces, and whether it was the
/// last part.
///
/// # Errors
/// The kernel's error.
pub fn parse_addresses(answer: &[u8]) -> Reading<(Vec<Found>, bool)> {
    let mut found = Vec::new();
    for message in messages(answer) {
        if let Some(error) = message.error() {
            return Err(error);
        }
        if message.kind == DONE {
            return Ok((found, true));
        }
        // struct ifaddrmsg: family, prefix length, flags, scope, index.
        let &[_, prefix, _, _, a, b, c, d, ref rest @ ..] = message.body else { continue };
        if message.kind != NEW_ADDRESS {
            continue;
        }
        let of = |wanted| attributes(rest).find(|(kind, _)| *kind == wanted).and_then(|(_, v)| ip(v));
        // On a point-to-point link the address is the peer's, and only the local one is ours.
        if let Some(address) = of(LOCAL).or_else(|| of(ADDRESS)) {
            found.push((u32::from_ne_bytes([a, b, c, d]), address, prefix));
        }
    }
    Ok((found, false))
}

/// Gives addresses the names of their interfaces. An interface without a name has disappeared since.
#[must_use]
pub fn with_interface_names(found: Vec<Found>, names: &[(u32, String)]) -> Vec<Address> {
    let name = |index| names.iter().find(|(known, _)| *known == index).map(|(_, name)| name.clone());
    let addresses = found.into_iter();
    addresses
        .filter_map(|(index, address, prefix)| Some(Address { interface: name(index)?, address, prefix }))
        .collect()
}

fn ip(value: &[u8]) -> Option<IpAddr> {
    let v4 = <[u8; 4]>::try_from(value).map(|bytes| IpAddr::V4(Ipv4Addr::from(bytes)));
    v4.or_else(|_| <[u8; 16]>::try_from(value).map(|bytes| IpAddr::V6(Ipv6Addr::from(bytes)))).ok()
}

/// A message of an answer.
pub(super) struct Message<'a> {
    pub(super) kind: u16,
    pub(super) body: &'a [u8],
}

impl Message<'_> {
    /// The kernel's error, where the message is one. An error of 0 is an acknowledgement.
    pub(super) fn error(&self) -> Option<Unreadable> {
        let number = match (self.kind, self.body) {
            (ERROR, [a, b, c, d, ..]) => i32::from_ne_bytes([*a, *b, *c, *d]),
            _ => return None,
        };
        let positive = number.checked_neg()?;
        (number != 0).then(|| Unreadable::of_errno(Some(positive), &format!("netlink error {positive}")))
    }
}

/// The messages of an answer. A length that does not fit ends it.
pub(super) fn messages(answer: &[u8]) -> impl Iterator<Item = Message<'_>> {
    let mut rest = answer;
    std::iter::from_fn(move || {
        let &[a, b, c, d, e, f, ..] = rest else { return None };
        let length = usize::try_from(u32::from_ne_bytes([a, b, c, d])).ok()?;
        let body = rest.get(16..length)?;
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(Message { kind: u16::from_ne_bytes([e, f]), body })
    })
}

/// The attributes of a body. A length that does not fit ends it.
pub(super) fn attributes(body: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    let mut rest = body;
    std::iter::from_fn(move || {
        let &[a, b, c, d, ..] = rest else { return None };
        let length = usize::from(u16::from_ne_bytes([a, b]));
        let value = rest.get(4..length)?;
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        // The two upper bits are flags.
        Some((u16::from_ne_bytes([c, d]) & 0x3fff, value))
    })
}

/// An attribute, padded to four bytes.
pub(super) fn encode_attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = u16::try_from(4 + value.len()).unwrap_or(u16::MAX);
    let mut bytes = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// A message of the kernel, as tests model it.
#[cfg(test)]
pub(super) fn of_kernel(kind: u16, body: &[u8]) -> Vec<u8> {
    let mut padded = encode_request(kind, 0, body);
    padded.resize(padded.len().next_multiple_of(4), 0);
    padded
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Modelled on the kernel's source, not recorded.
    #[test]
    fn the_namespace_mode() {
        assert_eq!(mode_request(), [16, 0, 0, 0, 6, 20, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
        let of = |value| {
            let body = [encode_attribute(74, &[1]), encode_attribute(NETNS_MODE, &[value])].concat();
            parse_namespace_mode(&of_kernel(SYS_GET, &body))
        };
        assert_eq!(of(1), Ok(NamespaceMode::Shared));
        assert_eq!(of(0), Ok(NamespaceMode::Exclusive));
        assert!(
            of(2).is_err()
                && parse_namespace_mode(b"").is_err()
                && parse_namespace_mode(&of_kernel(SYS_GET, &[])).is_err()
        );
        assert_eq!(
            parse_namespace_mode(&of_kernel(ERROR, &(-95_i32).to_ne_bytes())),
            Err(Unreadable::Unsupported)
        );
    }

    #[test]
    fn addresses_until_the_last_part() {
        let body = |index: u8, value: &[u8]| {
            [
                &[2, 24, 0, 0, index, 0, 0, 0][..],
                &encode_attribute(ADDRESS, value),
                &encode_attribute(LOCAL, value),
            ]
            .concat()
        };
        let parts = [of_kernel(NEW_ADDRESS, &body(3, &[10, 1, 0, 5])), of_kernel(DONE, &[0; 4])].concat();
        let (found, last) = parse_addresses(&parts).unwrap();
        assert!(last);
        assert_eq!(found, [(3, "10.1.0.5".parse().unwrap(), 24)]);
        let names = [(3, "rail0".to_owned())];
        assert_eq!(with_interface_names(found, &names).first().map(|a| a.interface.as_str()), Some("rail0"));
        for cut in 0..parts.len() {
            let _ = parse_addresses(&parts[..cut]);
        }
    }
}
