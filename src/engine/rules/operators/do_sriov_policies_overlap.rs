//! Two SriovNetworkNodePolicies on the virtual functions of one NIC.

use crate::facts::SriovNodePolicy;
use crate::facts::sriov_node_policy::{InterfaceWithVfRange, NicSelector, NicSelectorForManyNics};
use crate::snapshot::Snapshot;
use std::collections::HashMap;

/// Where two policies meet.
pub(super) struct NicInCommon {
    /// Index of the entry below `nicSelector`, with its field.
    pub(super) path: String,
    /// Name or address of the NIC, as the policy writes it.
    pub(super) nic: String,
    /// Functions of either.
    pub(super) ranges: [Option<(u32, u32)>; 2],
}

/// Whether a NIC could answer to both selectors, names of NICs aside.
pub(super) fn may_select_same_nic_ignoring_names(a: &NicSelectorForManyNics<'_>, b: &NicSelector) -> bool {
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

pub(super) fn do_ranges_overlap(a: Option<(u32, u32)>, b: Option<(u32, u32)>) -> bool {
    matches!((a, b), (Some(a), Some(b)) if a.0 <= b.1 && b.0 <= a.1)
}

/// An entry of pfNames: its index, the NIC's name and its range.
pub(super) type PfNameEntry<'a> = (usize, &'a str, Option<(u32, u32)>);

pub(super) fn pf_selections_of_policy<'a>(
    policy: &'a SriovNodePolicy,
    snapshot: &'a Snapshot,
) -> Vec<PfNameEntry<'a>> {
    let read = |(index, entry): (usize, &'a String)| {
        let functions = InterfaceWithVfRange::parse(entry)?;
        Some((
            index,
            snapshot.cluster_facts_for_audience().main_name_of_interface(functions.interface),
            functions.range,
        ))
    };
    policy.nics.interfaces.iter().enumerate().filter_map(read).collect()
}

/// The NICs of the policy under review, which are compared with those of hundreds of other policies: a comparison costs as
/// much as the other policy is long.
pub(super) struct OurNics<'a> {
    own: &'a SriovNodePolicy,
    snapshot: &'a Snapshot,
    index: NicSelectorForManyNics<'a>,
    names: Vec<PfNameEntry<'a>>,
    /// Places in `names`, by name.
    by_name: HashMap<&'a str, Vec<usize>>,
    /// The first place of each address.
    addresses: HashMap<&'a str, usize>,
}

impl<'a> OurNics<'a> {
    pub(super) fn new(own: &'a SriovNodePolicy, snapshot: &'a Snapshot) -> Self {
        let names = pf_selections_of_policy(own, snapshot);
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, (_, name, _)) in names.iter().enumerate() {
            by_name.entry(name).or_default().push(at);
        }
        let mut addresses = HashMap::new();
        for (index, address) in own.nics.addresses.iter().enumerate() {
            addresses.entry(address.as_str()).or_insert(index);
        }
        Self { own, snapshot, index: own.nics.for_many_nics(), names, by_name, addresses }
    }

    /// To compare with NICs of nodes.
    pub(super) fn selector_for_many_nics(&self) -> &NicSelectorForManyNics<'a> {
        &self.index
    }

    /// The first NIC that another policy names too, with VFs that both take. `ranges_matter` is off for what applies to a
    /// NIC as a whole.
    pub(super) fn first_nic_in_common(
        &self,
        other: &SriovNodePolicy,
        ranges_matter: bool,
    ) -> Option<NicInCommon> {
        if !may_select_same_nic_ignoring_names(&self.index, &other.nics) {
            return None;
        }
        let (own, theirs) = (self.own, pf_selections_of_policy(other, self.snapshot));
        let both_take = |ours, theirs| {
            !ranges_matter || do_ranges_overlap(own.vfs_used_in_range(ours), other.vfs_used_in_range(theirs))
        };
        if !self.names.is_empty() && !theirs.is_empty() {
            let pairs = theirs.iter().flat_map(|(_, name, theirs)| {
                let places = self.by_name.get(name).into_iter().flatten();
                places.filter_map(|at| self.names.get(*at)).map(move |ours| (ours, *theirs))
            });
            let met = pairs.filter(|((_, _, ours), theirs)| both_take(*ours, *theirs));
            let ((index, name, ours), theirs) = met.min_by_key(|((index, ..), _)| *index)?;
            return Some(NicInCommon {
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
        let whole = |own: &[PfNameEntry<'_>]| own.first().and_then(|(_, _, range)| *range);
        let ranges = [whole(&self.names), whole(&theirs)];
        let single = self.names.len() <= 1 && theirs.len() <= 1;
        let meet = !ranges_matter
            || (single
                && do_ranges_overlap(own.vfs_used_in_range(ranges[0]), other.vfs_used_in_range(ranges[1])));
        meet.then(|| NicInCommon {
            path: format!("/spec/nicSelector/rootDevices/{index}"),
            nic: address.clone(),
            ranges,
        })
    }
}
