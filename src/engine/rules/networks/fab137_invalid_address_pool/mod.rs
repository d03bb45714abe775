//! FAB137: IPPool or CIDRPool that gives no addresses.

use crate::multus::subnet::Subnet;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::most_findings_per_rule::MAX_FINDINGS_PER_RULE_AND_SEVERITY;
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::{CIDR_POOL, IP_POOL};
use crate::rules::rule_declaration::{Rule, files};
use crate::text::escaped_and_cut;
use core::net::IpAddr;
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    id: "FAB137",
    severity: Severity::Error,
    files: files!(),
    kinds: &[IP_POOL, CIDR_POOL],
    object: Some(check),
    ..Rule::DEFAULT
};

/// Faults of a pool, each with its JSON pointer and message. It keeps no more faults than are reported, because a list
/// may have many wrong entries.
#[derive(Default)]
struct PoolFaults(Vec<(String, String)>);

impl PoolFaults {
    fn push_unless_full(&mut self, pointer: impl Into<String>, message: impl Into<String>) {
        if !self.is_full() {
            self.0.push((pointer.into(), message.into()));
        }
    }

    fn is_full(&self) -> bool {
        self.0.len() >= MAX_FINDINGS_PER_RULE_AND_SEVERITY
    }

    /// Checks the items of a list until there are as many faults as are reported.
    fn check_items_until_full<'v>(
        &mut self,
        spec: &'v Value,
        key: &str,
        mut check: impl FnMut(&mut Self, usize, &'v Value),
    ) {
        for (i, item) in list(spec, key).iter().enumerate() {
            if self.is_full() {
                return;
            }
            check(self, i, item);
        }
    }
}

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(object) = context.whole_object() else { return };
    let Some(spec) = object.get("spec").filter(|s| s.is_object()) else { return };
    for (pointer, message) in faults_of_pool(context.kind, spec).0 {
        findings.add(
            format!("/spec{pointer}"),
            message,
            "Correct the value. nv-ipam ignores the pool until the value is correct.",
        );
    }
}

fn faults_of_pool(kind: &str, spec: &Value) -> PoolFaults {
    let mut faults = PoolFaults::default();
    match kind {
        "CIDRPool" => check_cidr_pool(spec, &mut faults),
        _ => check_ip_pool(spec, &mut faults),
    }
    faults
}

fn text<'a>(spec: &'a Value, key: &str) -> &'a str {
    spec.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn list<'a>(spec: &'a Value, key: &str) -> &'a [Value] {
    spec.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Number of addresses that hosts may have: all except the network address and, for IPv4, the broadcast address.
fn count_host_addresses(subnet: &Subnet) -> u128 {
    match subnet.address_bits() - subnet.prefix_length() {
        0 => 1,
        1 => 2,
        _ => subnet.address_count() - if subnet.first_address().is_ipv4() { 2 } else { 1 },
    }
}

fn check_ip_pool(spec: &Value, faults: &mut PoolFaults) {
    let subnet = Subnet::parse_address_and_subnet(text(spec, "subnet")).map(|(_, net)| net);
    let mut fault = |key: &str, message: String| faults.push_unless_full(format!("/{key}"), message);
    if subnet.is_none() {
        fault(
            "subnet",
            format!(
                "subnet {:?} is not a network (address/prefix)",
                escaped_and_cut(text(spec, "subnet"), 50)
            ),
        );
    }
    let size = spec.get("perNodeBlockSize").and_then(Value::as_i64);
    if let Some(size) = size {
        match (u128::try_from(size).ok().filter(|n| *n > 0), &subnet) {
            (None, _) => fault(
                "perNodeBlockSize",
                format!("perNodeBlockSize is {size}, but nv-ipam expects at least 1"),
            ),
            (Some(n), Some(net)) if count_host_addresses(net) < n => fault(
                "perNodeBlockSize",
                format!(
                    "perNodeBlockSize is {n}, but {net} has only {} addresses: no node gets addresses",
                    count_host_addresses(net)
                ),
            ),
            _ => {}
        }
    }
    if let Some(size) = size.filter(|size| *size > 0) {
        check_per_node_exclusions(spec, size - 1, faults);
    }
    let mut fault = |key: &str, message: String| faults.push_unless_full(format!("/{key}"), message);
    let gateway = text(spec, "gateway");
    match gateway.parse::<IpAddr>() {
        _ if gateway.is_empty() => {}
        Err(_) => fault("gateway", format!("gateway {:?} is not an address", escaped_and_cut(gateway, 50))),
        Ok(address) => {
            if let Some(net) = subnet.filter(|net| !net.contains(address)) {
                fault("gateway", format!("gateway {address} is not in subnet {net}"));
            }
        }
    }
    check_exclusions(spec, subnet, faults);
    check_routes(spec, subnet, (!gateway.is_empty()).then_some("gateway").ok_or("gateway"), faults);
}

fn check_cidr_pool(spec: &Value, faults: &mut PoolFaults) {
    let cidr = text(spec, "cidr");
    let parsed = Subnet::parse_address_and_subnet(cidr);
    let index = spec.get("gatewayIndex").and_then(Value::as_i64);
    let prefix = spec.get("perNodeNetworkPrefix").and_then(Value::as_i64);
    let mut fault = |key: &str, message: String| faults.push_unless_full(format!("/{key}"), message);
    match parsed {
        None => {
            fault("cidr", format!("cidr {:?} is not a network (address/prefix)", escaped_and_cut(cidr, 50)))
        }
        Some((address, net)) if address != net.first_address() => {
            fault(
                "cidr",
                format!("cidr {} has host bits: write the network address, {net}", escaped_and_cut(cidr, 50)),
            );
        }
        _ => {}
    }
    let net = parsed.map(|(_, net)| net);
    let node_prefix = prefix.and_then(|p| u8::try_from(p).ok());
    if let (Some(net), Some(prefix)) = (net, prefix) {
        if node_prefix.is_none_or(|p| p == 0 || p < net.prefix_length() || p > net.address_bits()) {
            let (from, to) = (net.prefix_length(), net.address_bits());
            fault(
                "perNodeNetworkPrefix",
                format!("perNodeNetworkPrefix is {prefix}, but nv-ipam expects {from} to {to} for {net}"),
            );
        } else if let (Some(index), Some(p)) = (index, node_prefix) {
            let node = Subnet::of(net.first_address(), p);
            let point = node.address_bits() - p <= 1;
            let last = if point { count_host_addresses(&node) - 1 } else { count_host_addresses(&node) };
            if u128::try_from(index).map_or(true, |i| i > last || (i == 0 && !point)) {
                fault(
                    "gatewayIndex",
                    format!("gatewayIndex {index} is outside a node's subnet, which is a /{p}"),
                );
            }
        }
    }
    if let (Some(net), Some(p)) = (net, node_prefix) {
        check_static_allocations(spec, net, p, faults);
        let hosts = 1_i64.checked_shl(u32::from(net.address_bits().saturating_sub(p))).filter(|n| *n > 0);
        check_per_node_exclusions(spec, hosts.map_or(i64::MAX, |n| n - 1), faults);
    }
    check_exclusions(spec, net, faults);
    check_routes(spec, net, index.map(|_| "gatewayIndex").ok_or("gatewayIndex"), faults);
}

fn check_static_allocations(spec: &Value, net: Subnet, prefix: u8, faults: &mut PoolFaults) {
    let (mut nodes, mut prefixes) = (BTreeSet::new(), BTreeSet::new());
    faults.check_items_until_full(spec, "staticAllocations", |faults, i, allocation| {
        let written = text(allocation, "prefix");
        let shown = escaped_and_cut(written, 50);
        let mut fault = |key: &str, message: String| {
            faults.push_unless_full(format!("/staticAllocations/{i}/{key}"), message)
        };
        let node = text(allocation, "nodeName");
        if !node.is_empty() && !nodes.insert(node) {
            fault(
                "nodeName",
                format!("node {} has two entries in staticAllocations", escaped_and_cut(node, 63)),
            );
        }
        let Some((address, part)) = Subnet::parse_address_and_subnet(written) else {
            fault("prefix", format!("prefix {shown:?} is not a network (address/prefix)"));
            return;
        };
        if address != part.first_address()
            || part.prefix_length() != prefix
            || !net.contains(part.first_address())
        {
            fault("prefix", format!("prefix {shown} is not a /{prefix} subnet of {net}"));
        } else if !prefixes.insert(part) {
            fault("prefix", format!("prefix {part} is allocated twice"));
        }
        let gateway = text(allocation, "gateway");
        let inside = |address: IpAddr| part.contains(address);
        if !gateway.is_empty() && !gateway.parse().is_ok_and(inside) {
            fault("gateway", format!("gateway {} is not an address of {part}", escaped_and_cut(gateway, 50)));
        }
    });
}

/// Addresses that are not handed out (api/v1alpha1/validate_exclusions.go).
fn check_exclusions(spec: &Value, net: Option<Subnet>, faults: &mut PoolFaults) {
    let Some(net) = net else { return };
    faults.check_items_until_full(spec, "exclusions", |faults, i, exclusion| {
        let mut ends = [None; 2];
        for (end, key) in ends.iter_mut().zip(["startIP", "endIP"]) {
            let written = text(exclusion, key);
            let address = written.parse::<IpAddr>().ok();
            *end = address.filter(|a| net.contains(*a));
            if end.is_none() {
                let shown = escaped_and_cut(written, 50);
                let message = match address {
                    None => format!("{key} {shown:?} is not an address"),
                    Some(_) => format!("{key} {shown} is not in {net}"),
                };
                faults.push_unless_full(format!("/exclusions/{i}/{key}"), message);
            }
        }
        if let [Some(start), Some(end)] = ends
            && end < start
        {
            let message = format!("exclusion {start} to {end}: the end is before the start");
            faults.push_unless_full(format!("/exclusions/{i}"), message);
        }
    });
}

/// Checks exclusions that are given as indexes into the addresses of each node. `last` is the highest index.
fn check_per_node_exclusions(spec: &Value, last: i64, faults: &mut PoolFaults) {
    faults.check_items_until_full(spec, "perNodeExclusions", |faults, i, exclusion| {
        // A missing index is 0.
        let index = |key: &str| exclusion.get(key).and_then(Value::as_i64).unwrap_or_default();
        for key in ["startIndex", "endIndex"] {
            let index = index(key);
            if !(0..=last).contains(&index) {
                let message = format!(
                    "{key} {index} is out of range: the addresses of a node have indexes 0 to {last}"
                );
                faults.push_unless_full(format!("/perNodeExclusions/{i}/{key}"), message);
            }
        }
        let (start, end) = (index("startIndex"), index("endIndex"));
        if end < start {
            let message = format!("exclusion {start} to {end}: the end is before the start");
            faults.push_unless_full(format!("/perNodeExclusions/{i}"), message);
        }
    });
}

/// `gateway`: the field that sets a gateway; `Err` with the name of the field if it is not set.
fn check_routes(spec: &Value, net: Option<Subnet>, gateway: Result<&str, &str>, faults: &mut PoolFaults) {
    let default = spec.get("defaultGateway").and_then(Value::as_bool) == Some(true);
    if let Err(missing) = gateway {
        if default {
            faults.push_unless_full(
                "/defaultGateway",
                format!("defaultGateway requires {missing}, which is not set"),
            );
        }
        if !list(spec, "routes").is_empty() {
            faults.push_unless_full("/routes", format!("routes require {missing}, which is not set"));
        }
    }
    faults.check_items_until_full(spec, "routes", |faults, i, route| {
        let to = text(route, "dst");
        let shown = escaped_and_cut(to, 50);
        let mut fault = |message: String| faults.push_unless_full(format!("/routes/{i}/dst"), message);
        match (Subnet::parse_address_and_subnet(to), net) {
            (None, _) => fault(format!("dst {shown:?} is not a network (address/prefix)")),
            (Some((_, to)), Some(net)) if to.first_address().is_ipv4() != net.first_address().is_ipv4() => {
                fault(format!("dst {to} and the pool's network {net} have different address families"));
            }
            (Some((_, to)), _) if default && to.is_default() => {
                fault(
                    "defaultGateway: true already adds the default route, so dst must not be a default route"
                        .to_owned(),
                );
            }
            _ => {}
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults_of_pool(kind: &str, spec: &str) -> Vec<String> {
        let spec: Value = serde_json::from_str(spec).unwrap();
        super::faults_of_pool(kind, &spec).0.into_iter().map(|(pointer, _)| pointer).collect()
    }

    #[test]
    fn ip_pools_as_nv_ipam_judges_them() {
        for (spec, expected) in [
            (r#"{"subnet":"10.1.0.0/24","perNodeBlockSize":254,"gateway":"10.1.0.1"}"#, vec![]),
            (r#"{"subnet":"10.1.0.7/24","perNodeBlockSize":1}"#, vec![]),
            (
                r#"{"subnet":"10.1.0.0","perNodeBlockSize":0,"gateway":"x"}"#,
                vec!["/subnet", "/perNodeBlockSize", "/gateway"],
            ),
            (r#"{"subnet":"10.1.0.0/24","perNodeBlockSize":255}"#, vec!["/perNodeBlockSize"]),
            (
                r#"{"subnet":"10.1.0.0/24","perNodeBlockSize":8,"exclusions":[{"startIP":"10.1.0.1","endIP":"10.1.0.1"},
                    {"startIP":"10.2.0.1","endIP":"x"},{"startIP":"10.1.0.9","endIP":"10.1.0.8"},{}],
                    "perNodeExclusions":[{"startIndex":0,"endIndex":7},{"startIndex":-1,"endIndex":8},{"startIndex":3}]}"#,
                vec![
                    "/perNodeExclusions/1/startIndex",
                    "/perNodeExclusions/1/endIndex",
                    "/perNodeExclusions/2",
                    "/exclusions/1/startIP",
                    "/exclusions/1/endIP",
                    "/exclusions/2",
                    "/exclusions/3/startIP",
                    "/exclusions/3/endIP",
                ],
            ),
            (r#"{"subnet":"10.1.0.0/24","perNodeBlockSize":1,"gateway":"10.2.0.1"}"#, vec!["/gateway"]),
            (
                r#"{"subnet":"10.1.0.0/24","perNodeBlockSize":1,"defaultGateway":true,"routes":[{"dst":"10.0.0.0/8"}]}"#,
                vec!["/defaultGateway", "/routes"],
            ),
            (
                r#"{"subnet":"10.1.0.0/24","perNodeBlockSize":1,"gateway":"10.1.0.1","defaultGateway":true,
                    "routes":[{"dst":"10.0.0.0"},{"dst":"fd00::/8"},{"dst":"0.0.0.0/0"}]}"#,
                vec!["/routes/0/dst", "/routes/1/dst", "/routes/2/dst"],
            ),
        ] {
            assert_eq!(faults_of_pool("IPPool", spec), expected, "{spec}");
        }
    }

    #[test]
    fn cidr_pools_as_nv_ipam_judges_them() {
        for (spec, expected) in [
            (
                r#"{"cidr":"10.1.0.0/16","perNodeNetworkPrefix":24,"gatewayIndex":1,"routes":[{"dst":"10.0.0.0/8"}]}"#,
                vec![],
            ),
            (r#"{"cidr":"10.1.0.0/16","perNodeNetworkPrefix":31,"gatewayIndex":0}"#, vec![]),
            (r#"{"cidr":"10.1.0.0/16","perNodeNetworkPrefix":31,"gatewayIndex":2}"#, vec!["/gatewayIndex"]),
            (r#"{"cidr":"10.1.0.0/16","perNodeNetworkPrefix":24,"gatewayIndex":0}"#, vec!["/gatewayIndex"]),
            (r#"{"cidr":"10.1.0.0/16","perNodeNetworkPrefix":24,"gatewayIndex":-1}"#, vec!["/gatewayIndex"]),
            (r#"{"cidr":"10.1.2.0/16","perNodeNetworkPrefix":15}"#, vec!["/cidr", "/perNodeNetworkPrefix"]),
            (r#"{"cidr":"x","perNodeNetworkPrefix":24}"#, vec!["/cidr"]),
            (
                r#"{"cidr":"fd00::/48","perNodeNetworkPrefix":64,"perNodeExclusions":[{"startIndex":1,"endIndex":2147483647}]}"#,
                vec![],
            ),
            (
                r#"{"cidr":"10.1.0.0/16","perNodeNetworkPrefix":24,"perNodeExclusions":[{"startIndex":256,"endIndex":256}],
                    "staticAllocations":[{"prefix":"10.1.1.0/24","gateway":"10.1.1.1"},{"prefix":"10.1.2.0/24","gateway":"10.1.1.1"}]}"#,
                vec![
                    "/staticAllocations/1/gateway",
                    "/perNodeExclusions/0/startIndex",
                    "/perNodeExclusions/0/endIndex",
                ],
            ),
            (
                r#"{"cidr":"10.1.0.0/16","perNodeNetworkPrefix":24,"routes":[{"dst":"10.0.0.0/8"}],"staticAllocations":[
                    {"nodeName":"a","prefix":"10.1.1.0/24"},{"nodeName":"a","prefix":"10.1.2.0/24"},
                    {"prefix":"10.1.1.0/24"},{"prefix":"10.2.0.0/24"},{"prefix":"10.1.3.0/25"},{"prefix":"y"}]}"#,
                vec![
                    "/staticAllocations/1/nodeName",
                    "/staticAllocations/2/prefix",
                    "/staticAllocations/3/prefix",
                    "/staticAllocations/4/prefix",
                    "/staticAllocations/5/prefix",
                    "/routes",
                ],
            ),
        ] {
            assert_eq!(faults_of_pool("CIDRPool", spec), expected, "{spec}");
        }
    }

    #[test]
    fn no_more_faults_than_are_reported() {
        for key in ["exclusions", "perNodeExclusions", "staticAllocations", "routes"] {
            let items = vec![serde_json::json!({"startIndex": -1}); 10_000];
            let spec = serde_json::json!({"cidr": "10.0.0.0/8", "perNodeNetworkPrefix": 24, (key): items});
            assert_eq!(
                super::faults_of_pool("CIDRPool", &spec).0.len(),
                MAX_FINDINGS_PER_RULE_AND_SEVERITY,
                "{key}"
            );
        }
    }
}
