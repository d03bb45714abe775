//! The classes that list an extended resource, those with the largest nodes first. A pod names many resources, a workload
//! has many pods, and a cluster thousands of classes: a question about one resource must not go through them all.

use super::compact_class_set::CompactClassSet;
use super::node_classes::ClassSet;
use std::collections::BTreeMap;
use std::sync::Arc;

/// For each resource, its classes by units.
#[derive(Debug, Default)]
pub(super) struct ClassesByUnits {
    /// Classes of nodes that may have more than is known.
    unknown: ClassSet,
    resources: BTreeMap<Arc<str>, Vec<Group>>,
}

/// The classes with a node of so many units; `None` where that may change soon.
#[derive(Debug)]
struct Group {
    units: Option<u64>,
    classes: CompactClassSet,
}

impl ClassesByUnits {
    /// Sorts lists of units, each with the classes of the nodes that have it. `count`: the number of classes.
    pub(super) fn sort_classes_by_units<'a>(
        count: usize,
        unknown: &[usize],
        lists: impl Iterator<Item = (&'a [(Arc<str>, u64)], &'a [usize])>,
    ) -> Self {
        let mut all: BTreeMap<&Arc<str>, Vec<(u64, &[usize])>> = BTreeMap::new();
        for (list, classes) in lists {
            for (resource, units) in list {
                all.entry(resource).or_default().push((*units, classes));
            }
        }
        let sorted = |mut lists: Vec<(u64, &[usize])>| -> Vec<Group> {
            // A node that lists 0 comes first, because it leaves the answer open.
            let order = |units: u64| if units == 0 { u64::MAX } else { units };
            lists.sort_unstable_by_key(|(units, _)| std::cmp::Reverse(order(*units)));
            let alike = lists.chunk_by(|(one, _), (other, _)| one == other);
            let group = |lists: &[(u64, &[usize])]| {
                let mut classes = ClassSet::with_capacity(count);
                classes.extend(lists.iter().flat_map(|(_, classes)| classes.iter().copied()));
                let units = lists.first().map(|(units, _)| *units).filter(|units| *units > 0);
                Group { units, classes: CompactClassSet::of(&classes) }
            };
            alike.map(group).collect()
        };
        Self {
            unknown: unknown.iter().copied().collect(),
            resources: all
                .into_iter()
                .map(|(resource, lists)| (Arc::clone(resource), sorted(lists)))
                .collect(),
        }
    }

    /// Units of a resource on the largest node of a set of classes, as [`super::resource_amounts::AmountsOfAllNodes::most_units_in_classes`] has them.
    pub(super) fn most_units_in_classes(&self, set: &ClassSet, resource: &str) -> Option<u64> {
        if !self.unknown.is_disjoint(set) {
            return None;
        }
        self.resources.get(resource)?.iter().find(|group| group.classes.intersects(set))?.units
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One class in few lists, and many classes in one.
    #[test]
    fn the_first_group_that_meets_a_set_answers() {
        let list = |units: u64| [(Arc::from("a/vf"), units)];
        let (large, small, open) = (list(16), list(8), list(0));
        let all: Vec<usize> = (0..100).collect();
        let largest = ClassesByUnits::sort_classes_by_units(
            101,
            &[100],
            [(&large[..], &[3][..]), (&small, &all), (&open, &[7])].into_iter(),
        );
        for (classes, most) in [
            (&[1, 2][..], Some(8)),
            (&[1, 2, 3], Some(16)),
            (&[2, 3, 7], None),
            (&[1, 100], None),
            (&[], None),
        ] {
            assert_eq!(
                largest.most_units_in_classes(&classes.iter().copied().collect(), "a/vf"),
                most,
                "{classes:?}"
            );
        }
        assert_eq!(largest.most_units_in_classes(&all.iter().copied().collect(), "a/other"), None);
    }
}
