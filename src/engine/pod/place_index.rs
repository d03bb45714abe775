//! Places in the lists of a pod by name.

use std::cell::OnceCell;
use std::hash::{BuildHasher, RandomState};

/// Fewer entries than this are searched one by one: real pods have a handful.
pub(super) const FEW: usize = 16;

/// Places in a list, in the order of hashes of their names; made when it is first asked for. To compare hashes takes a third
/// of the time that it takes to compare names: a request may have 200,000 of them in random order.
#[derive(Debug, Default)]
pub(super) struct PlaceIndex(OnceCell<(RandomState, Vec<(u64, usize)>)>);

impl PlaceIndex {
    /// Places of a name, in the order of the list.
    pub(super) fn places<'n>(
        &self,
        length: usize,
        name_of: impl Fn(usize) -> Option<&'n str>,
        name: &str,
    ) -> impl DoubleEndedIterator<Item = usize> {
        let (hashes, all) = self.0.get_or_init(|| {
            let hashes = RandomState::new();
            let named = (0..length).filter_map(|place| Some((hashes.hash_one(name_of(place)?), place)));
            let mut all: Vec<(u64, usize)> = named.collect();
            all.sort_unstable();
            (hashes, all)
        });
        let hash = hashes.hash_one(name);
        let from = all.partition_point(|(other, _)| *other < hash);
        let rest = all.get(from..).unwrap_or_default();
        let same = rest.get(..rest.partition_point(|(other, _)| *other == hash)).unwrap_or_default();
        same.iter().map(|(_, place)| *place).filter(move |place| name_of(*place) == Some(name))
    }
}
