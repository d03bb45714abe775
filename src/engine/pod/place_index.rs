//! Places in the lists of a pod by name.

use std::cell::OnceCell;

/// Fewer entries than this are searched one by one: real pods have a handful.
pub(super) const FEW: usize = 16;

/// Places in a list, in the order of their names; made when it is first asked for.
#[derive(Debug, Default)]
pub(super) struct PlaceIndex(OnceCell<Vec<usize>>);

impl PlaceIndex {
    /// Places of a name, in the order of the list.
    pub(super) fn places<'n>(
        &self,
        length: usize,
        name_of: impl Fn(usize) -> Option<&'n str>,
        name: &str,
    ) -> &[usize] {
        let all = self.0.get_or_init(|| {
            let mut places: Vec<usize> = (0..length).collect();
            places.sort_by_key(|place| name_of(*place));
            places
        });
        let from = all.partition_point(|place| name_of(*place) < Some(name));
        let rest = all.get(from..).unwrap_or_default();
        let length = rest.partition_point(|place| name_of(*place) <= Some(name));
        rest.get(..length).unwrap_or_default()
    }
}
