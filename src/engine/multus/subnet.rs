//! Networks of IP addresses, as Go's `net.ParseCIDR` reads them.

use core::net::IpAddr;
use ipnet::IpNet;
use std::fmt;

/// A network: an address whose bits beyond the prefix are zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Subnet(IpNet);

impl Subnet {
    /// Reads `address/prefix`: the address, and its network. Go accepts a prefix with leading zeros, ipnet does not.
    #[must_use]
    pub fn parse_address_and_subnet(text: &str) -> Option<(IpAddr, Self)> {
        let (address, prefix) = text.split_once('/')?;
        let address: IpAddr = address.parse().ok()?;
        let digits = !prefix.is_empty() && prefix.bytes().all(|b| b.is_ascii_digit());
        let prefix: u8 = prefix.parse().ok().filter(|_| digits)?;
        Some((address, Self(IpNet::new(address, prefix).ok()?.trunc())))
    }

    /// The network of an address. A prefix that is too long for its family gives the whole address.
    #[must_use]
    pub fn of(address: IpAddr, prefix: u8) -> Self {
        Self(IpNet::new(address, prefix).unwrap_or_else(|_| address.into()).trunc())
    }

    /// Its first address.
    #[must_use]
    pub fn first_address(&self) -> IpAddr {
        self.0.network()
    }

    /// Bits of the prefix.
    #[must_use]
    pub fn prefix_length(&self) -> u8 {
        self.0.prefix_len()
    }

    /// Bits of an address of its family.
    #[must_use]
    pub fn address_bits(&self) -> u8 {
        self.0.max_prefix_len()
    }

    /// Whether an address is in it.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address)
    }

    /// Whether two networks have an address in common.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.0.contains(&other.0) || other.0.contains(&self.0)
    }

    /// Whether it holds every address of its family, as the destination of a default route does.
    #[must_use]
    pub fn is_default(&self) -> bool {
        self.prefix_length() == 0
    }

    /// Addresses of the prefix (count), the network's own among them.
    #[must_use]
    pub fn address_count(&self) -> u128 {
        1_u128.checked_shl(u32::from(self.address_bits() - self.prefix_length())).unwrap_or(u128::MAX)
    }
}

/// The first two members of a list that have addresses of one subnet, with the wider subnet. Members are numbered; one may
/// have several subnets. In order of addresses a subnet comes right after one that holds it, or after others that the same
/// one holds: subnets hold one another or are apart.
#[must_use]
pub fn first_two_members_that_overlap(mut list: Vec<(Subnet, usize)>) -> Option<(Subnet, usize, usize)> {
    list.sort_unstable();
    let mut widest: Option<(Subnet, usize)> = None;
    for (subnet, member) in list {
        match widest {
            Some((wide, first)) if wide.overlaps(&subnet) && first != member => {
                return Some((wide, first, member));
            }
            Some((wide, _)) if wide.overlaps(&subnet) => {}
            _ => widest = Some((subnet, member)),
        }
    }
    None
}

impl fmt::Display for Subnet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn net(text: &str) -> Subnet {
        Subnet::parse_address_and_subnet(text).unwrap().1
    }

    #[test]
    fn reads_what_go_reads() {
        assert_eq!(net("10.1.2.3/16").to_string(), "10.1.0.0/16");
        assert_eq!(net("fd00:1::5/64").to_string(), "fd00:1::/64");
        assert_eq!(net("1.2.3.4/32").to_string(), "1.2.3.4/32");
        assert_eq!(net("10.1.2.3/016").to_string(), "10.1.0.0/16");
        assert_eq!(Subnet::of("10.1.2.3".parse().unwrap(), 64).to_string(), "10.1.2.3/32");
        for bad in
            ["", "10.0.0.0", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/+8", "10.0.0/8", "::1/129", "010.0.0.0/8"]
        {
            assert!(Subnet::parse_address_and_subnet(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn holds_and_overlaps() {
        assert!(net("10.1.0.0/16").contains("10.1.255.1".parse().unwrap()));
        assert!(!net("10.1.0.0/16").contains("10.2.0.1".parse().unwrap()));
        assert!(!net("0.0.0.0/0").contains("::1".parse().unwrap()));
        assert!(
            net("10.0.0.0/8").overlaps(&net("10.9.0.0/24"))
                && net("10.9.0.0/24").overlaps(&net("10.0.0.0/8"))
        );
        assert!(
            !net("10.8.0.0/24").overlaps(&net("10.9.0.0/24")) && !net("0.0.0.0/0").overlaps(&net("::/0"))
        );
        assert!(net("::/0").is_default() && !net("::/1").is_default());
    }

    #[test]
    fn counts_addresses() {
        assert_eq!((net("10.0.0.0/24").address_count(), net("10.0.0.0/32").address_count()), (256, 1));
        assert_eq!((net("0.0.0.0/0").address_count(), net("::/0").address_count()), (1 << 32, u128::MAX));
    }

    #[test]
    fn the_first_overlap_is_of_two_members() {
        let net = |text: &str| Subnet::parse_address_and_subnet(text).unwrap().1;
        let of = |list: &[(&str, usize)]| {
            first_two_members_that_overlap(list.iter().map(|(text, member)| (net(text), *member)).collect())
        };
        assert_eq!(of(&[("10.1.0.0/16", 0), ("10.2.0.0/16", 1)]), None);
        assert_eq!(of(&[("10.1.0.0/16", 0), ("10.1.4.0/24", 0)]), None);
        let wide = net("10.1.0.0/16");
        assert_eq!(of(&[("10.1.4.0/24", 1), ("10.1.0.0/16", 0), ("fd00::/64", 2)]), Some((wide, 0, 1)));
        assert_eq!(of(&[("10.1.0.0/16", 3), ("10.1.0.0/16", 2)]), Some((wide, 2, 3)));
    }
}
