//! Names as the values of a label: the first of them have places that they keep, and all later ones share one. So a label
//! has a bounded set of values, and a series never ends because of others.

use super::counter_grid::LabelValues;
use arc_swap::ArcSwap;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Names with a place of their own.
pub(super) const MAX_NAMES_WITH_OWN_PLACE: usize = 200;
/// Index of all later names.
pub(super) const INDEX_OF_OTHER_NAMES: usize = MAX_NAMES_WITH_OWN_PLACE;
/// Index for "no name".
pub(super) const INDEX_OF_NO_NAME: usize = MAX_NAMES_WITH_OWN_PLACE + 1;

/// Names in the order in which they came. Looking up takes no lock.
#[derive(Debug, Default)]
pub(super) struct BoundedNames {
    known: ArcSwap<PlacesOfNames>,
    growing: Mutex<()>,
    /// Whether "no name" is counted, and shown before the first time.
    counts_none: bool,
}

#[derive(Debug, Default, Clone)]
struct PlacesOfNames {
    places: HashMap<Arc<str>, usize>,
    names: Vec<Arc<str>>,
}

impl BoundedNames {
    /// Names of something that an object may have none of.
    pub(super) fn with_none() -> Self {
        Self { counts_none: true, ..Self::default() }
    }

    /// The place of a name. The caller has checked that the name is one of the cluster's, and not a text of a request.
    pub(super) fn find_or_assign_place(&self, name: &str) -> usize {
        // Objects may have the names that stand for the rest.
        if matches!(name, "other" | "none") {
            return INDEX_OF_OTHER_NAMES;
        }
        let known = self.known.load();
        if let Some(place) = known.places.get(name) {
            return *place;
        }
        if known.names.len() >= MAX_NAMES_WITH_OWN_PLACE {
            INDEX_OF_OTHER_NAMES
        } else {
            self.assign_place(name)
        }
    }

    /// Gives names their places, in order, so that all replicas with the same names choose the same of them.
    pub(super) fn assign_places<'a>(&self, names: impl Iterator<Item = &'a str>) {
        let known = self.known.load();
        if known.names.len() >= MAX_NAMES_WITH_OWN_PLACE {
            return;
        }
        let mut new: Vec<&str> = names.filter(|name| !known.places.contains_key(*name)).collect();
        new.sort_unstable();
        for name in new.into_iter().take(MAX_NAMES_WITH_OWN_PLACE) {
            self.find_or_assign_place(name);
        }
    }

    /// Gives a name a place. At most [`MAX_NAMES_WITH_OWN_PLACE`] times, and never for a name that has one.
    fn assign_place(&self, name: &str) -> usize {
        let _growing = self.growing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = PlacesOfNames::clone(&self.known.load());
        let place = known.names.len();
        if let Some(place) = known.places.get(name) {
            return *place;
        }
        if place >= MAX_NAMES_WITH_OWN_PLACE {
            return INDEX_OF_OTHER_NAMES;
        }
        let name: Arc<str> = Arc::from(name);
        known.names.push(Arc::clone(&name));
        known.places.insert(name, place);
        self.known.store(Arc::new(known));
        place
    }
}

impl LabelValues for BoundedNames {
    fn len(&self) -> usize {
        MAX_NAMES_WITH_OWN_PLACE + 2
    }
    fn has_values_yet(&self, index: usize) -> bool {
        index == INDEX_OF_OTHER_NAMES
            || index == INDEX_OF_NO_NAME && self.counts_none
            || index < self.known.load().names.len()
    }
    fn values(&self, index: usize) -> Vec<Arc<str>> {
        let name = match index {
            INDEX_OF_OTHER_NAMES => Some(Arc::from("other")),
            INDEX_OF_NO_NAME => Some(Arc::from("none")),
            _ => self.known.load().names.get(index).cloned(),
        };
        name.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_names_keep_their_places_and_the_rest_share_one() {
        let names = BoundedNames::default();
        for round in 0..2 {
            for n in 0..MAX_NAMES_WITH_OWN_PLACE + 50 {
                let expected = if n < MAX_NAMES_WITH_OWN_PLACE { n } else { INDEX_OF_OTHER_NAMES };
                assert_eq!(names.find_or_assign_place(&format!("n{n}")), expected, "round {round}");
            }
        }
        assert_eq!(
            [names.find_or_assign_place("other"), names.find_or_assign_place("none")],
            [INDEX_OF_OTHER_NAMES, INDEX_OF_OTHER_NAMES]
        );
        let value = |index| names.values(index).concat();
        assert_eq!(
            [value(0), value(199), value(INDEX_OF_OTHER_NAMES), value(INDEX_OF_NO_NAME)],
            ["n0", "n199", "other", "none"]
        );
    }

    #[test]
    fn expected_names_have_places_in_order() {
        let names = BoundedNames::default();
        names.assign_places(["c", "a", "other"].into_iter());
        names.assign_places(["b", "a"].into_iter());
        assert_eq!(
            ["a", "c", "b", "other"].map(|name| names.find_or_assign_place(name)),
            [0, 1, 2, INDEX_OF_OTHER_NAMES]
        );
        assert_eq!(
            [0, 2, 3, INDEX_OF_OTHER_NAMES, INDEX_OF_NO_NAME].map(|index| names.has_values_yet(index)),
            [true, true, false, true, false]
        );
        assert!(BoundedNames::with_none().has_values_yet(INDEX_OF_NO_NAME));
    }

    #[test]
    fn threads_that_bring_the_same_names_get_the_same_places() {
        let names = BoundedNames::default();
        let all = || {
            (0..MAX_NAMES_WITH_OWN_PLACE)
                .map(|n| names.find_or_assign_place(&format!("n{n}")))
                .collect::<Vec<_>>()
        };
        let found: Vec<Vec<usize>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(all)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(found.iter().all(|places| *places == found[0]));
    }
}
