//! The requests of an element of the networks annotation's JSON form, beyond a name and an interface
//! (k8snetworkplumbingwg/multus-cni pkg/types/types.go, NetworkSelectionElement).

use super::networks_annotation_error::{AnnotationError, shorten};
use crate::json::as_go_reads::does_key_match_field;
use crate::json::types_of_decoded_fields::{Pairs, Text};
use crate::multus::subnet::Subnet;
use core::net::IpAddr;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Keys that Multus reads, and `ipam-claim-reference`, which OVN-Kubernetes reads from the same text.
pub const KEYS_THAT_PROGRAMS_READ: [&str; 13] = [
    "name",
    "namespace",
    "ips",
    "mac",
    "infiniband-guid",
    "interface",
    "interfaceRequest",
    "portMappings",
    "bandwidth",
    "deviceID",
    "cni-args",
    "default-route",
    "ipam-claim-reference",
];

/// Requests of one element.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Requests<'a> {
    /// Addresses, each with or without a prefix; checked.
    pub ips: Vec<Cow<'a, str>>,
    /// Hardware address.
    pub mac: Option<Cow<'a, str>>,
    /// GUID of an InfiniBand port.
    pub guid: Option<Cow<'a, str>>,
    /// Device that the element names directly.
    pub device: Option<Cow<'a, str>>,
    /// What makes the interface another port of the fabric than the one that the network's owner gives the pod, or gives it
    /// addresses of another pool: each by its key, with its value as it is written.
    pub identity: Vec<(&'static str, Cow<'a, str>)>,
    /// Gateways of the pod's default route.
    pub default_routes: Vec<IpAddr>,
    /// Keys that no program reads.
    pub unknown: Vec<String>,
}

/// Keys of `cni-args` by which nv-ipam takes an address from another pool, or the address of the gateway, in any case of
/// letters (Mellanox/nvidia-k8s-ipam pkg/cni/types/types.go, `IPAMArgs`; Go folds the keys of a struct).
const ADDRESS_IN_CNI_ARGS: [(&str, &str); 4] = [
    ("poolNames", "cni-args.poolNames"),
    ("poolType", "cni-args.poolType"),
    ("allocateDefaultGateway", "cni-args.allocateDefaultGateway"),
    ("allocateIPWithIndex", "cni-args.allocateIPWithIndex"),
];
/// Keys of `cni-args` by which ib-sriov-cni takes a GUID and a partition from the pod, and by which ib-kubernetes takes the
/// pod for one that it has configured (k8snetworkplumbingwg/ib-sriov-cni cmd/ib-sriov-cni/main.go; Mellanox/ib-kubernetes
/// pkg/utils/pod.go).
const IDENTITY_IN_CNI_ARGS: [(&str, &str); 3] = [
    ("guid", "cni-args.guid"),
    ("pkey", "cni-args.pkey"),
    ("mellanox.infiniband.app", "cni-args[\"mellanox.infiniband.app\"]"),
];

/// Whole numbers of a `bandwidth` (pkg/types/types.go, BandwidthEntry).
const RATES: [&str; 4] = ["ingressRate", "ingressBurst", "egressRate", "egressBurst"];
/// Whole numbers of an element of `portMappings` (PortMapEntry).
const PORTS: [&str; 2] = ["hostPort", "containerPort"];

type Element<'a> = Pairs<'a, Option<&'a RawValue>>;

/// Reads the requests of an element; `None` if it makes none.
///
/// # Errors
/// [`AnnotationError`] for a value that Multus refuses.
pub(super) fn read_requests_of_element<'a>(
    item: &Element<'a>,
    index: usize,
) -> Result<Option<Box<Requests<'a>>>, AnnotationError> {
    let (mut found, mut ips) = (Requests::default(), "");
    for (key, raw) in item.iter() {
        // Go's decoder takes the last of several keys.
        let Some(known) = KEYS_THAT_PROGRAMS_READ.into_iter().find(|k| does_key_match_field(k, key)) else {
            found.unknown.push(key.to_owned());
            continue;
        };
        let Some(raw) = raw.map(RawValue::get) else {
            // Null sets lists to nil and changes no text.
            match known {
                "ips" => found.ips.clear(),
                "default-route" => found.default_routes.clear(),
                _ => {}
            }
            continue;
        };
        let wrong = |expected| AnnotationError::BadValue { index, key: known, value: shorten(raw), expected };
        let text = || -> Result<Option<Cow<'a, str>>, AnnotationError> {
            let text: Text<'a> = serde_json::from_str(raw).map_err(|_| wrong("text"))?;
            Ok(Some(text.0).filter(|t| !t.is_empty()))
        };
        match known {
            "ips" => {
                let list: Vec<Option<Text<'a>>> =
                    serde_json::from_str(raw).map_err(|_| wrong("a list of addresses"))?;
                // In a list that was read before, null keeps what stood there.
                let mut before = std::mem::take(&mut found.ips).into_iter();
                let kept = |text: Option<Text<'a>>| {
                    let old = before.next();
                    text.map(|t| t.0).or(old).unwrap_or_default()
                };
                found.ips = list.into_iter().map(kept).collect();
                ips = raw;
            }
            "mac" => {
                found.mac = text()?
                    .map(|t| checked_hardware_address(t, || wrong("a hardware address")))
                    .transpose()?
            }
            "infiniband-guid" => {
                found.guid = text()?
                    .map(|t| checked_hardware_address(t, || wrong("a GUID of 8 octets")))
                    .transpose()?;
                found.identity.extend(found.guid.clone().map(|guid| ("infiniband-guid", guid)));
            }
            "deviceID" => {
                found.device = text()?;
                found.identity.extend(found.device.clone().map(|device| ("deviceID", device)));
            }
            "default-route" => {
                let list: Vec<Option<Text<'a>>> =
                    serde_json::from_str(raw).map_err(|_| wrong("a list of gateways"))?;
                let routes = list.iter().flatten().filter(|t| !t.is_empty()).map(|t| t.parse());
                found.default_routes =
                    routes.collect::<Result<_, _>>().map_err(|_| wrong("addresses of gateways"))?;
            }
            "cni-args" => {
                let args: Element<'a> = serde_json::from_str(raw).map_err(|_| wrong("an object"))?;
                // Of several `cni-args`, Go's decoder adds the later ones to the map of the first.
                let set = args.iter().filter_map(|(key, value)| {
                    let exact = IDENTITY_IN_CNI_ARGS.into_iter().find(|(known, _)| *known == key);
                    let folded = || {
                        ADDRESS_IN_CNI_ARGS.into_iter().find(|(known, _)| does_key_match_field(known, key))
                    };
                    Some((exact.or_else(folded)?.1, Cow::Borrowed((*value)?.get())))
                });
                found.identity.extend(set);
            }
            "bandwidth" if !has_whole_numbers_in_keys(raw, &RATES) => {
                return Err(wrong("an object of whole numbers (rates in bit/s, bursts in bits)"));
            }
            "portMappings" => {
                let list: Option<Vec<Option<&RawValue>>> = serde_json::from_str(raw).ok();
                if !list.is_some_and(|l| {
                    l.into_iter().flatten().all(|port| has_whole_numbers_in_keys(port.get(), &PORTS))
                }) {
                    return Err(wrong("a list of objects with ports as numbers"));
                }
            }
            // Names are read elsewhere; the other keys decide nothing.
            _ => {}
        }
    }
    if !found.ips.iter().all(|ip| is_address(ip)) {
        let (value, expected) = (shorten(ips), "addresses, with or without a prefix");
        return Err(AnnotationError::BadValue { index, key: "ips", value, expected });
    }
    Ok((found != Requests::default()).then(|| Box::new(found)))
}

/// Whether a JSON text is an object in which each of some keys has a whole number, as Go decodes it into an `int`.
fn has_whole_numbers_in_keys(json: &str, keys: &[&str]) -> bool {
    let Ok(object) = serde_json::from_str::<Element<'_>>(json) else { return false };
    let number = |raw: &Option<&RawValue>| raw.is_none_or(|raw| raw.get().parse::<i64>().is_ok());
    object.iter().all(|(key, raw)| !keys.iter().any(|k| does_key_match_field(k, key)) || number(raw))
}

fn checked_hardware_address<'a>(
    text: Cow<'a, str>,
    wrong: impl FnOnce() -> AnnotationError,
) -> Result<Cow<'a, str>, AnnotationError> {
    if count_octets_of_hardware_address(&text).is_some() { Ok(text) } else { Err(wrong()) }
}

fn is_address(text: &str) -> bool {
    if text.contains('/') {
        Subnet::parse_address_and_subnet(text).is_some()
    } else {
        text.parse::<IpAddr>().is_ok()
    }
}

/// Octets of a hardware address, as Go's `net.ParseMAC` reads it: 6, 8 or 20 of them, in pairs of digits between `:` or
/// `-`, or in fours between `.`.
#[must_use]
pub fn count_octets_of_hardware_address(text: &str) -> Option<usize> {
    let separator = text.chars().find(|c| !c.is_ascii_hexdigit())?;
    let size = match separator {
        ':' | '-' => 2,
        '.' => 4,
        _ => return None,
    };
    let mut parts = 0;
    for part in text.split(separator) {
        if part.len() != size || !part.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        parts += 1;
    }
    let octets = parts * size / 2;
    matches!(octets, 6 | 8 | 20).then_some(octets)
}

#[cfg(test)]
mod tests;
