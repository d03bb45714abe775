//! Two SriovNetworkNodePolicies on the virtual functions of one NIC.

use crate::facts::NodePolicy;
use crate::facts::node_policy::{Functions, NicSelector};
use crate::snapshot::Snapshot;
use std::collections::{HashMap, HashSet};

/// Where two policies meet.
pub(super) struct Meeting {
    /// Index of the entry below `nicSelector`, with its field.
    pub(super) path: String,
    /// Name or address of the NIC, as the policy writes it.
    pub(super) nic: String,
    /// Functions of either.
    pub(super) ranges: [Option<(u32, u32)>; 2],
}

/// Whether a NIC could answer to both selectors, names of NICs aside.
pub(super) fn compatible(a: &NicSelector, b: &NicSelector) -> bool {
    let same = |a: &Option<String>, b: &Option<String>| a.is_none() || b.is_none() || a == b;
    let of_b: HashSet<&str> = b.addresses.iter().map(String::as_str).collect();
    let addresses = a.addresses.is_empty()
        || b.addresses.is_empty()
        || a.addresses.iter().any(|address| of_b.contains(address.as_str()));
    a.net_filter.is_none()
        && b.net_filter.is_none()
        && same(&a.vendor, &b.vendor)
        && same(&a.device_id, &b.device_id)
        && addresses
}

pub(super) fn overlap(a: Option<(u32, u32)>, b: Option<(u32, u32)>) -> bool {
    matches!((a, b), (Some(a), Some(b)) if a.0 <= b.1 && b.0 <= a.1)
}

/// An entry of pfNames: its index, the NIC's name and its range.
pub(super) type PfSelection<'a> = (usize, &'a str, Option<(u32, u32)>);

pub(super) fn names<'a>(policy: &'a NodePolicy, snapshot: &'a Snapshot) -> Vec<PfSelection<'a>> {
    let read = |(index, entry): (usize, &'a String)| {
        let functions = Functions::parse(entry)?;
        Some((index, snapshot.facts().interface_named(functions.interface), functions.range))
    };
    policy.nics.interfaces.iter().enumerate().filter_map(read).collect()
}

/// The first NIC that both policies name, with VFs that both take. `ranges_matter` is off for what applies to a NIC
/// as a whole.
pub(super) fn meeting(
    a: &NodePolicy,
    b: &NodePolicy,
    snapshot: &Snapshot,
    ranges_matter: bool,
) -> Option<Meeting> {
    if !compatible(&a.nics, &b.nics) {
        return None;
    }
    let (ours, theirs) = (names(a, snapshot), names(b, snapshot));
    if !ours.is_empty() && !theirs.is_empty() {
        let mut by_name: HashMap<&str, Vec<Option<(u32, u32)>>> = HashMap::new();
        for (_, name, range) in &theirs {
            by_name.entry(name).or_default().push(*range);
        }
        return ours.iter().find_map(|(index, name, range)| {
            let same = by_name.get(name).into_iter().flatten();
            let mut ranges = same.map(|other| (a.functions(*range), b.functions(*other), *range, *other));
            let (_, _, ours, theirs) = ranges.find(|(x, y, _, _)| !ranges_matter || overlap(*x, *y))?;
            Some(Meeting {
                path: format!("/spec/nicSelector/pfNames/{index}"),
                nic: (*name).to_owned(),
                ranges: [ours, theirs],
            })
        });
    }
    let of_b: HashSet<&str> = b.nics.addresses.iter().map(String::as_str).collect();
    // One of them takes NICs only by address: all VFs of them, whatever names the other has.
    let (index, address) =
        a.nics.addresses.iter().enumerate().find(|(_, address)| of_b.contains(address.as_str()))?;
    let whole = |own: &[PfSelection<'_>]| own.first().and_then(|(_, _, range)| *range);
    let ranges = [whole(&ours), whole(&theirs)];
    let single = ours.len() <= 1 && theirs.len() <= 1;
    let meet = !ranges_matter || (single && overlap(a.functions(ranges[0]), b.functions(ranges[1])));
    meet.then(|| Meeting {
        path: format!("/spec/nicSelector/rootDevices/{index}"),
        nic: address.clone(),
        ranges,
    })
}
