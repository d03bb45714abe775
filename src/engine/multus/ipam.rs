//! The source of a network's addresses: the `ipam` object of a CNI configuration.

use super::subnet::Subnet;
use crate::text::cut_to_bytes;
use serde_json::{Map, Value};

/// Most subnets of a network that are kept; real networks have one or two. Pods are compared by them.
const MAX_SUBNETS: usize = 64;

/// Most bytes of the name of a pool that are kept: more than a pool can have in its name.
const MAX_POOL_NAME_LENGTH: usize = 256;

/// A source of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IpamPlugin {
    /// host-local: files of one node; nodes do not know each other's addresses (containernetworking/plugins
    /// plugins/ipam/host-local).
    HostLocal,
    /// static: the addresses that the configuration or the pod names.
    Static,
    /// A DHCP server.
    Dhcp,
    /// whereabouts: one range for the cluster.
    Whereabouts,
    /// nv-ipam: a pool in a separate object.
    NvIpam,
    /// Another plugin.
    Other,
}

/// The facts of an `ipam` object that decisions need. Kept for every network of the cluster, so it stays small.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ipam {
    /// The source of addresses.
    pub allocator: IpamPlugin,
    /// Networks of the addresses, if the configuration names them.
    pub subnets: Box<[Subnet]>,
    /// Pool of nv-ipam.
    pub pool: Option<NvIpamPoolName>,
    /// Whether it sets a default route.
    pub default_route: bool,
    /// Whether the configuration contains fixed addresses, so that every pod gets the same.
    pub fixed: bool,
}

/// A pool of nv-ipam by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NvIpamPoolName {
    /// Name; the configuration may list several, separated by commas, of which this is the first.
    pub name: Box<str>,
    /// Whether it is a CIDRPool; the default is an IPPool.
    pub cidr: bool,
}

impl Ipam {
    /// Reads an `ipam` object; `None` if it has no `type`, which means no addresses.
    #[must_use]
    pub fn read(object: &Map<String, Value>) -> Option<Self> {
        let text = |key: &str| object.get(key).and_then(Value::as_str).filter(|t| !t.is_empty());
        let allocator = match text("type")? {
            "host-local" => IpamPlugin::HostLocal,
            "static" => IpamPlugin::Static,
            "dhcp" => IpamPlugin::Dhcp,
            "whereabouts" => IpamPlugin::Whereabouts,
            "nv-ipam" => IpamPlugin::NvIpam,
            _ => IpamPlugin::Other,
        };
        let mut subnets: Vec<Subnet> =
            address_texts(object, allocator).filter_map(|t| Some(parse_address_range(t)?.1)).collect();
        subnets.sort_unstable();
        subnets.dedup();
        subnets.truncate(MAX_SUBNETS);
        let pool = text("poolName").filter(|_| allocator == IpamPlugin::NvIpam).map(|name| NvIpamPoolName {
            name: cut_to_bytes(name.split(',').next().unwrap_or_default().trim(), MAX_POOL_NAME_LENGTH)
                .into(),
            cidr: text("poolType").is_some_and(|t| t.eq_ignore_ascii_case("cidrpool")),
        });
        let fixed = allocator == IpamPlugin::Static && !subnets.is_empty();
        Some(Self {
            allocator,
            subnets: subnets.into(),
            pool,
            default_route: index_of_first_default_route(object).is_some(),
            fixed,
        })
    }
}

/// Index of the first default route among `routes`.
#[must_use]
pub fn index_of_first_default_route(ipam: &Map<String, Value>) -> Option<usize> {
    let routes = ipam.get("routes").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    routes.iter().position(|route| {
        let to = route.get("dst").and_then(Value::as_str).and_then(Subnet::parse_address_and_subnet);
        to.is_some_and(|(_, net)| net.is_default())
    })
}

/// The texts with addresses.
fn address_texts<'a>(
    object: &'a Map<String, Value>,
    allocator: IpamPlugin,
) -> Box<dyn Iterator<Item = &'a str> + 'a> {
    let of = |value: &'a Value, key: &str| value.get(key).and_then(Value::as_str);
    let list = |key: &str| object.get(key).and_then(Value::as_array).into_iter().flatten();
    let own = |key: &str| object.get(key).and_then(Value::as_str).into_iter();
    match allocator {
        IpamPlugin::HostLocal => {
            let ranges = list("ranges").filter_map(Value::as_array).flatten();
            Box::new(own("subnet").chain(ranges.filter_map(move |r| of(r, "subnet"))))
        }
        IpamPlugin::Whereabouts => {
            Box::new(own("range").chain(list("ipRanges").filter_map(move |r| of(r, "range"))))
        }
        IpamPlugin::Static => Box::new(list("addresses").filter_map(move |a| of(a, "address"))),
        IpamPlugin::Dhcp | IpamPlugin::NvIpam | IpamPlugin::Other => Box::new(std::iter::empty()),
    }
}

/// `address/prefix`, or `first-last/prefix` in the form of whereabouts.
fn parse_address_range(text: &str) -> Option<(core::net::IpAddr, Subnet)> {
    Subnet::parse_address_and_subnet(text.rsplit_once('-').map_or(text, |(_, last)| last).trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ipam(text: &str) -> Option<Ipam> {
        Ipam::read(serde_json::from_str::<Value>(text).unwrap().as_object().unwrap())
    }

    #[test]
    fn reads_each_allocator() {
        for (text, allocator, subnets) in [
            (r#"{"type":"host-local","subnet":"10.1.2.0/24"}"#, IpamPlugin::HostLocal, vec!["10.1.2.0/24"]),
            (
                r#"{"type":"host-local","ranges":[[{"subnet":"10.1.0.0/16"},{"subnet":"10.2.0.0/16"}],[{"subnet":"fd00::/64"}]]}"#,
                IpamPlugin::HostLocal,
                vec!["10.1.0.0/16", "10.2.0.0/16", "fd00::/64"],
            ),
            (r#"{"type":"whereabouts","range":"10.1.2.7/28"}"#, IpamPlugin::Whereabouts, vec!["10.1.2.0/28"]),
            (
                r#"{"type":"whereabouts","ipRanges":[{"range":"10.1.2.5-10.1.2.9/24"}]}"#,
                IpamPlugin::Whereabouts,
                vec!["10.1.2.0/24"],
            ),
            (
                r#"{"type":"static","addresses":[{"address":"10.1.2.3/24"}]}"#,
                IpamPlugin::Static,
                vec!["10.1.2.0/24"],
            ),
            (r#"{"type":"nv-ipam","poolName":"p"}"#, IpamPlugin::NvIpam, vec![]),
            (r#"{"type":"dhcp"}"#, IpamPlugin::Dhcp, vec![]),
            (r#"{"type":"spiderpool","subnet":"10.0.0.0/8"}"#, IpamPlugin::Other, vec![]),
        ] {
            let found = ipam(text).unwrap();
            let shown: Vec<String> = found.subnets.iter().map(ToString::to_string).collect();
            assert_eq!(
                (found.allocator, shown),
                (allocator, subnets.iter().map(ToString::to_string).collect())
            );
            assert_eq!(found.fixed, allocator == IpamPlugin::Static);
        }
        assert_eq!(ipam("{}"), None);
        assert_eq!(ipam(r#"{"type":""}"#), None);
    }

    #[test]
    fn reads_pools_and_routes() {
        let pool =
            ipam(r#"{"type":"nv-ipam","poolName":"a,b","poolType":"cidrpool"}"#).unwrap().pool.unwrap();
        assert_eq!((&*pool.name, pool.cidr), ("a", true));
        assert!(!ipam(r#"{"type":"nv-ipam","poolName":"a"}"#).unwrap().pool.unwrap().cidr);
        let routed = ipam(r#"{"type":"dhcp","routes":[{"dst":"10.0.0.0/8"},{"dst":"0.0.0.0/0"}]}"#).unwrap();
        assert!(routed.default_route);
        assert!(!ipam(r#"{"type":"dhcp","routes":[{"dst":"10.0.0.0/8"}]}"#).unwrap().default_route);
        assert!(!ipam(r#"{"type":"static"}"#).unwrap().fixed);
    }
}
