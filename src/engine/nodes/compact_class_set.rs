//! Sets of classes of which a view has thousands, such as those behind each taint, each value of a label and each resource.

use fixedbitset::FixedBitSet;

/// Classes, in the form that takes less memory.
#[derive(Debug)]
pub(crate) enum CompactClassSet {
    Few(Box<[u32]>),
    Many(FixedBitSet),
}

impl CompactClassSet {
    /// The classes of a set.
    pub(crate) fn of(set: &FixedBitSet) -> Self {
        // Four bytes each, or a bit for every class.
        if set.count_ones(..).saturating_mul(32) < set.len() {
            Self::Few(set.ones().filter_map(|class| u32::try_from(class).ok()).collect())
        } else {
            Self::Many(set.clone())
        }
    }

    /// Classes by number, of so many.
    pub(crate) fn from_class_numbers(classes: &[usize], count: usize) -> Self {
        // A set of all classes for each of them would take as much time as it saves memory.
        if classes.len().saturating_mul(32) < count {
            return Self::Few(classes.iter().filter_map(|class| u32::try_from(*class).ok()).collect());
        }
        let mut set = FixedBitSet::with_capacity(count);
        set.extend(classes.iter().copied());
        Self::Many(set)
    }

    /// Whether any of them is in a set.
    pub(crate) fn intersects(&self, set: &FixedBitSet) -> bool {
        match self {
            Self::Few(classes) => few(classes).any(|class| set.contains(class)),
            Self::Many(classes) => !classes.is_disjoint(set),
        }
    }

    /// Adds them to a set.
    pub(crate) fn add_to_set(&self, set: &mut FixedBitSet) {
        match self {
            Self::Few(classes) => set.extend(few(classes)),
            Self::Many(classes) => set.union_with(classes),
        }
    }

    /// Removes all others from a set.
    pub(crate) fn keep_in_set(&self, set: &mut FixedBitSet) {
        match self {
            Self::Few(classes) => {
                let both: Vec<usize> = few(classes).filter(|class| set.contains(*class)).collect();
                set.clear();
                set.extend(both);
            }
            Self::Many(classes) => set.intersect_with(classes),
        }
    }

    /// Removes them from a set.
    pub(crate) fn remove_from_set(&self, set: &mut FixedBitSet) {
        match self {
            Self::Few(classes) => {
                let most = set.len();
                few(classes).filter(|class| *class < most).for_each(|class| set.remove(class));
            }
            Self::Many(classes) => set.difference_with(classes),
        }
    }
}

fn few(classes: &[u32]) -> impl Iterator<Item = usize> {
    classes.iter().filter_map(|class| usize::try_from(*class).ok())
}
