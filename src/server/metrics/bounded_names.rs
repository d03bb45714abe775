//! Names as the values of a label: the first of them have places that they keep, and all later ones share one. So a label
//! has a bounded set of values, and a series never ends because of others.

use super::counter_grid::Axis;
use arc_swap::ArcSwap;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Names with a place of their own.
pub(super) const MOST: usize = 200;
/// Index of all later names.
pub(super) const OTHER: usize = MOST;
/// Index for "no name".
pub(super) const NONE: usize = MOST + 1;

/// Names in the order in which they came. Looking up takes no lock.
#[derive(Debug, Default)]
pub(super) struct Names {
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

impl Names {
    /// Names of something that an object may have none of.
    pub(super) fn with_none() -> Self {
        Self { counts_none: true, ..Self::default() }
    }

    /// The place of a name. The caller has checked that the name is one of the cluster's, and not a text of a request.
    pub(super) fn find_or_assign_place(&self, name: &str) -> usize {
        // Objects may have the names that stand for the rest.
        if matches!(name, "other" | "none") {
            return OTHER;
        }
        let known = self.known.load();
        if let Some(place) = known.places.get(name) {
            return *place;
        }
        if known.names.len() >= MOST { OTHER } else { self.assign_place(name) }
    }

    /// Gives names their places, in order, so that all replicas with the same names choose the same of them.
    pub(super) fn assign_places<'a>(&self, names: impl Iterator<Item = &'a str>) {
        let known = self.known.load();
        if known.names.len() >= MOST {
            return;
        }
        let mut new: Vec<&str> = names.filter(|name| !known.places.contains_key(*name)).collect();
        new.sort_unstable();
        for name in new.into_iter().take(MOST) {
            self.find_or_assign_place(name);
        }
    }

    /// Gives a name a place. At most [`MOST`] times, and never for a name that has one.
    fn assign_place(&self, name: &str) -> usize {
        let _growing = self.growing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = PlacesOfNames::clone(&self.known.load());
        let place = known.names.len();
        if let Some(place) = known.places.get(name) {
            return *place;
        }
        if place >= MOST {
            return OTHER;
        }
        let name: Arc<str> = Arc::from(name);
        known.names.push(Arc::clone(&name));
        known.places.insert(name, place);
        self.known.store(Arc::new(known));
        place
    }
}

impl Axis for Names {
    fn len(&self) -> usize {
        MOST + 2
    }
    fn known(&self, index: usize) -> bool {
        index == OTHER || index == NONE && self.counts_none || index < self.known.load().names.len()
    }
    fn values(&self, index: usize) -> Vec<Arc<str>> {
        let name = match index {
            OTHER => Some(Arc::from("other")),
            NONE => Some(Arc::from("none")),
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
        let names = Names::default();
        for round in 0..2 {
            for n in 0..MOST + 50 {
                let expected = if n < MOST { n } else { OTHER };
                assert_eq!(names.find_or_assign_place(&format!("n{n}")), expected, "round {round}");
            }
        }
        assert_eq!([names.find_or_assign_place("other"), names.find_or_assign_place("none")], [OTHER, OTHER]);
        let value = |index| names.values(index).concat();
        assert_eq!([value(0), value(199), value(OTHER), value(NONE)], ["n0", "n199", "other", "none"]);
    }

    #[test]
    fn expected_names_have_places_in_order() {
        let names = Names::default();
        names.assign_places(["c", "a", "other"].into_iter());
        names.assign_places(["b", "a"].into_iter());
        assert_eq!(["a", "c", "b", "other"].map(|name| names.find_or_assign_place(name)), [0, 1, 2, OTHER]);
        assert_eq!([0, 2, 3, OTHER, NONE].map(|index| names.known(index)), [true, true, false, true, false]);
        assert!(Names::with_none().known(NONE));
    }

    #[test]
    fn threads_that_bring_the_same_names_get_the_same_places() {
        let names = Names::default();
        let all = || (0..MOST).map(|n| names.find_or_assign_place(&format!("n{n}"))).collect::<Vec<_>>();
        let found: Vec<Vec<usize>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(all)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(found.iter().all(|places| *places == found[0]));
    }
}
