//! Addresses of interfaces.

use super::why_unreadable::{Reading, Unreadable};
use core::net::IpAddr;

/// An address of an interface.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    /// Name of the interface.
    pub interface: String,
    /// The address.
    pub address: IpAddr,
    /// Length of the subnet's prefix.
    pub prefix: u8,
}

/// Reads addresses from lines such as `rail0 10.152.0.12/24`. That is how a recorded tree of files holds what the kernel
/// returns by netlink only.
///
/// # Errors
/// A line of another form.
pub fn parse_recorded_addresses(content: &[u8]) -> Reading<Vec<Address>> {
    let text = std::str::from_utf8(content).map_err(|_| Unreadable::unexpected_form(content))?;
    let read = |line: &str| {
        let (interface, subnet) = line.split_once(' ')?;
        let (address, prefix) = subnet.trim().split_once('/')?;
        Some(Address {
            interface: interface.to_owned(),
            address: address.parse().ok()?,
            prefix: prefix.parse().ok()?,
        })
    };
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| read(line).ok_or_else(|| Unreadable::unexpected_form(line.as_bytes()))).collect()
}
