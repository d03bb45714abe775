//! The NICs that a SriovNetworkNodePolicy lists, read once and sorted, so that a comparison with the NICs of another policy
//! costs at most as much as both lists are long. A cluster may compare thousands of policies, each with each.

use super::sriov_node_policy::{InterfaceWithVfRange, SriovNodePolicy};

/// A number for the name of an interface, or for an address. Equal numbers stand for equal names, whichever policy has them.
pub(crate) type NicNumber = u32;

/// Place of an entry below `nicSelector`.
type Index = u32;

/// `pfNames` and `rootDevices` of one policy.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NicsListedByPolicy {
    /// Each interface once, by number.
    interfaces: Vec<ListedInterface>,
    /// The VFs of one interface after those of another: by the first VF, then by the place.
    vfs: Vec<VfsOfEntry>,
    /// Each address once with its first place, by number.
    addresses: Vec<(NicNumber, Index)>,
    /// Entries of `pfNames` that are read (count).
    entries: usize,
    /// The first of these entries.
    first_entry: Option<Index>,
    /// Whether the text of an entry has a `#`.
    has_ranges: bool,
}

#[derive(Debug, PartialEq, Eq)]
struct ListedInterface {
    number: NicNumber,
    first_index: Index,
    /// Where its VFs end in the list of all.
    end_of_vfs: u32,
}

/// VFs that the policy takes of an interface. Of entries with the same VFs only the first is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct VfsOfEntry {
    first: u32,
    last: u32,
    /// The greatest `last` of this entry and of those of its interface before it.
    furthest: u32,
    index: Index,
}

/// Entries of two policies with a NIC in common: their places in `pfNames`, ours and theirs.
pub(crate) type EntriesInCommon = (usize, usize);

impl NicsListedByPolicy {
    /// Reads the lists of a policy. `number_of_interface` and `number_of_address` are `None` for what no other policy lists.
    pub(super) fn new<'p>(
        policy: &'p SriovNodePolicy,
        mut number_of_interface: impl FnMut(&'p str) -> Option<NicNumber>,
        mut number_of_address: impl FnMut(&'p str) -> Option<NicNumber>,
    ) -> Self {
        let mut found = Self {
            has_ranges: policy.nics.interfaces.iter().any(|text| text.contains('#')),
            ..Self::default()
        };
        let mut entries = Vec::new();
        for (index, text) in (0..).zip(&policy.nics.interfaces) {
            let Some(InterfaceWithVfRange { interface, range }) = InterfaceWithVfRange::parse(text) else {
                continue;
            };
            found.entries += 1;
            found.first_entry.get_or_insert(index);
            if let Some(number) = number_of_interface(interface) {
                entries.push((number, policy.vfs_used_in_range(range), index));
            }
        }
        entries.sort_unstable();
        for (number, vfs, index) in entries {
            found.add_entry(number, vfs, index);
        }
        found.interfaces.shrink_to_fit();
        found.vfs.shrink_to_fit();
        let addresses = (0..).zip(&policy.nics.addresses);
        found.addresses =
            addresses.filter_map(|(index, address)| Some((number_of_address(address)?, index))).collect();
        found.addresses.sort_unstable();
        found.addresses.dedup_by_key(|(number, _)| *number);
        found.addresses.shrink_to_fit();
        found
    }

    /// Adds an entry behind those of lesser numbers, and behind those of the same interface with lesser VFs.
    fn add_entry(&mut self, number: NicNumber, vfs: Option<(u32, u32)>, index: Index) {
        let known = self.interfaces.pop_if(|last| last.number == number);
        let mut before = None;
        let mut first_index = index;
        if let Some(known) = known {
            first_index = known.first_index.min(index);
            let started = self.interfaces.last().map_or(0, |interface| interface.end_of_vfs);
            before = self.vfs.last().copied().filter(|_| started < known.end_of_vfs);
        }
        if let Some((first, last)) = vfs
            && before.is_none_or(|before| (before.first, before.last) != (first, last))
        {
            let furthest = before.map_or(last, |before| before.furthest.max(last));
            self.vfs.push(VfsOfEntry { first, last, furthest, index });
        }
        // A policy has at most 1,000 entries.
        let end_of_vfs = u32::try_from(self.vfs.len()).unwrap_or(u32::MAX);
        self.interfaces.push(ListedInterface { number, first_index, end_of_vfs });
    }

    /// Entries of `pfNames` that are read (count).
    pub(crate) fn entries(&self) -> usize {
        self.entries
    }

    /// Place in `pfNames` of the first entry that is read.
    pub(crate) fn first_entry(&self) -> Option<usize> {
        self.first_entry.map(|index| index as usize)
    }

    /// Whether the text of an entry has a `#`.
    pub(crate) fn has_ranges(&self) -> bool {
        self.has_ranges
    }

    /// How many NICs and VFs are looked at in comparisons with another policy.
    pub(crate) fn length(&self) -> usize {
        self.interfaces.len() + self.vfs.len() + self.addresses.len()
    }

    /// Our first entry with an interface that the other policy lists too, and the first entry there.
    pub(crate) fn first_interface_in_common(&self, other: &Self) -> Option<EntriesInCommon> {
        let met = in_common(&self.interfaces, &other.interfaces, |interface| interface.number);
        let (ours, theirs) = met.min_by_key(|((_, ours), _)| ours.first_index)?;
        Some((ours.1.first_index as usize, theirs.1.first_index as usize))
    }

    /// Our first entry with a VF that the other policy takes too, and the first such entry there.
    pub(crate) fn first_vf_in_common(&self, other: &Self) -> Option<EntriesInCommon> {
        let mut found: Option<(VfsOfEntry, &[VfsOfEntry])> = None;
        for ((ours_at, ours), (theirs_at, _)) in
            in_common(&self.interfaces, &other.interfaces, |interface| interface.number)
        {
            let before = found.map_or(Index::MAX, |(entry, _)| entry.index);
            if ours.first_index >= before {
                continue;
            }
            let theirs = other.vfs_of_interface(theirs_at);
            let sooner = self.vfs_of_interface(ours_at).iter().filter(|entry| entry.index < before);
            let met = sooner.filter(|entry| entry.meets_any_of(theirs)).min_by_key(|entry| entry.index);
            found = met.map(|entry| (*entry, theirs)).or(found);
        }
        let (ours, theirs) = found?;
        let met = theirs.iter().filter(|theirs| ours.first <= theirs.last && theirs.first <= ours.last);
        Some((ours.index as usize, met.map(|entry| entry.index).min()? as usize))
    }

    /// Place in `rootDevices` of our first address that the other policy lists too.
    pub(crate) fn first_address_in_common(&self, other: &Self) -> Option<usize> {
        let met = in_common(&self.addresses, &other.addresses, |(number, _)| *number);
        met.map(|((_, (_, index)), _)| *index as usize).min()
    }

    /// Place in `pfNames` of the first entry with an interface.
    pub(crate) fn first_entry_of_interface(&self, number: NicNumber) -> Option<usize> {
        let at = self.interfaces.binary_search_by_key(&number, |interface| interface.number).ok()?;
        Some(self.interfaces.get(at)?.first_index as usize)
    }

    fn vfs_of_interface(&self, at: usize) -> &[VfsOfEntry] {
        let end_of = |at: usize| self.interfaces.get(at).map_or(0, |interface| interface.end_of_vfs as usize);
        self.vfs.get(at.checked_sub(1).map_or(0, end_of)..end_of(at)).unwrap_or_default()
    }
}

impl VfsOfEntry {
    /// Whether one of the entries of an interface has a VF of this one.
    fn meets_any_of(&self, entries: &[Self]) -> bool {
        let starting = entries.partition_point(|entry| entry.first <= self.last);
        let last = starting.checked_sub(1).and_then(|at| entries.get(at));
        last.is_some_and(|entry| self.first <= entry.furthest)
    }
}

/// A list that is more than so many times as long as another is searched for each entry of the other, not read from end to
/// end: a policy with 1,000 NICs may be compared with thousands that list one.
const TIMES_AS_LONG: usize = 8;

/// The elements with the same key in two lists that are sorted by it, each with its place. No list repeats a key.
fn in_common<'l, T>(
    ours: &'l [T],
    theirs: &'l [T],
    key: impl Fn(&T) -> NicNumber,
) -> impl Iterator<Item = ((usize, &'l T), (usize, &'l T))> {
    let is_ours_shorter = ours.len() <= theirs.len();
    let (shorter, longer) = if is_ours_shorter { (ours, theirs) } else { (theirs, ours) };
    let search = longer.len() / TIMES_AS_LONG > shorter.len();
    let mut passed = 0;
    shorter.iter().enumerate().filter_map(move |entry| {
        let wanted = key(entry.1);
        let rest = longer.get(passed..).unwrap_or_default();
        let is_before = |other: &T| key(other) < wanted;
        passed += match search {
            true => rest.partition_point(is_before),
            false => rest.iter().take_while(|other| is_before(other)).count(),
        };
        let other = (passed, longer.get(passed).filter(|other| key(other) == wanted)?);
        Some(if is_ours_shorter { (entry, other) } else { (other, entry) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_different_lengths_have_the_same_in_common() {
        let multiples = |of: u32, up_to: u32| -> Vec<u32> { (0..up_to).step_by(of as usize).collect() };
        let lists: Vec<Vec<u32>> =
            [(1, 0), (1, 1), (1, 200), (3, 200), (41, 200), (90, 100), (199, 400), (7, 5)]
                .map(|(of, up_to)| multiples(of, up_to))
                .into();
        for (ours, theirs) in lists.iter().flat_map(|ours| lists.iter().map(move |theirs| (ours, theirs))) {
            let found: Vec<(usize, usize)> =
                in_common(ours, theirs, |number| *number).map(|(ours, theirs)| (ours.0, theirs.0)).collect();
            let place = |number| theirs.iter().position(|other| other == number);
            let wanted: Vec<(usize, usize)> =
                ours.iter().enumerate().filter_map(|(at, number)| Some((at, place(number)?))).collect();
            assert_eq!(found, wanted, "{ours:?} {theirs:?}");
        }
    }
}
