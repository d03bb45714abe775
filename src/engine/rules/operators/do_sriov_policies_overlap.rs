//! Two SriovNetworkNodePolicies on the virtual functions of one NIC.

use crate::facts::NodePolicy;
use crate::facts::sriov_node_policy::{Functions, NicIndex, NicSelector};
use crate::snapshot::Snapshot;
use std::collections::HashMap;

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
pub(super) fn may_select_same_nic(a: &NicIndex<'_>, b: &NicSelector) -> bool {
    let (addresses, a) = (a.addresses(), a.selector());
    let same = |a: &Option<String>, b: &Option<String>| a.is_none() || b.is_none() || a == b;
    a.net_filter.is_none()
        && b.net_filter.is_none()
        && same(&a.vendor, &b.vendor)
        && same(&a.device_id, &b.device_id)
        && (addresses.is_empty()
            || b.addresses.is_empty()
            || b.addresses.iter().any(|address| addresses.contains(address.as_str())))
}

pub(super) fn overlap(a: Option<(u32, u32)>, b: Option<(u32, u32)>) -> bool {
    matches!((a, b), (Some(a), Some(b)) if a.0 <= b.1 && b.0 <= a.1)
}

/// An entry of pfNames: its index, the NIC's name and its range.
pub(super) type PfSelection<'a> = (usize, &'a str, Option<(u32, u32)>);

pub(super) fn pf_selections_of_policy<'a>(
    policy: &'a NodePolicy,
    snapshot: &'a Snapshot,
) -> Vec<PfSelection<'a>> {
    let read = |(index, entry): (usize, &'a String)| {
        let functions = Functions::parse(entry)?;
        Some((
            index,
            snapshot.cluster_facts_for_audience().interface_named(functions.interface),
            functions.range,
        ))
    };
    policy.nics.interfaces.iter().enumerate().filter_map(read).collect()
}

/// The NICs of the policy under review, which are compared with those of hundreds of other policies: a comparison costs as
/// much as the other policy is long.
pub(super) struct OurNics<'a> {
    own: &'a NodePolicy,
    snapshot: &'a Snapshot,
    index: NicIndex<'a>,
    names: Vec<PfSelection<'a>>,
    /// Places in `names`, by name.
    by_name: HashMap<&'a str, Vec<usize>>,
    /// The first place of each address.
    addresses: HashMap<&'a str, usize>,
}

impl<'a> OurNics<'a> {
    pub(super) fn new(own: &'a NodePolicy, snapshot: &'a Snapshot) -> Self {
        let names = pf_selections_of_policy(own, snapshot);
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, (_, name, _)) in names.iter().enumerate() {
            by_name.entry(name).or_default().push(at);
        }
        let mut addresses = HashMap::new();
        for (index, address) in own.nics.addresses.iter().enumerate() {
            addresses.entry(address.as_str()).or_insert(index);
        }
        Self { own, snapshot, index: own.nics.index(), names, by_name, addresses }
    }

    /// To compare with NICs of nodes.
    pub(super) fn index(&self) -> &NicIndex<'a> {
        &self.index
    }

    /// The first NIC that another policy names too, with VFs that both take. `ranges_matter` is off for what applies to a
    /// NIC as a whole.
    pub(super) fn first_nic_in_common(&self, other: &NodePolicy, ranges_matter: bool) -> Option<Meeting> {
        if !may_select_same_nic(&self.index, &other.nics) {
            return None;
        }
        let (own, theirs) = (self.own, pf_selections_of_policy(other, self.snapshot));
        let both_take =
            |ours, theirs| !ranges_matter || overlap(own.functions(ours), other.functions(theirs));
        if !self.names.is_empty() && !theirs.is_empty() {
            let pairs = theirs.iter().flat_map(|(_, name, theirs)| {
                let places = self.by_name.get(name).into_iter().flatten();
                places.filter_map(|at| self.names.get(*at)).map(move |ours| (ours, *theirs))
            });
            let met = pairs.filter(|((_, _, ours), theirs)| both_take(*ours, *theirs));
            let ((index, name, ours), theirs) = met.min_by_key(|((index, ..), _)| *index)?;
            return Some(Meeting {
                path: format!("/spec/nicSelector/pfNames/{index}"),
                nic: (*name).to_owned(),
                ranges: [*ours, theirs],
            });
        }
        // One of them takes NICs only by address: all VFs of them, whatever names the other has.
        let shared = other
            .nics
            .addresses
            .iter()
            .filter_map(|address| self.addresses.get(address.as_str()).map(|index| (*index, address)));
        let (index, address) = shared.min_by_key(|(index, _)| *index)?;
        let whole = |own: &[PfSelection<'_>]| own.first().and_then(|(_, _, range)| *range);
        let ranges = [whole(&self.names), whole(&theirs)];
        let single = self.names.len() <= 1 && theirs.len() <= 1;
        let meet =
            !ranges_matter || (single && overlap(own.functions(ranges[0]), other.functions(ranges[1])));
        meet.then(|| Meeting {
            path: format!("/spec/nicSelector/rootDevices/{index}"),
            nic: address.clone(),
            ranges,
        })
    }
}
