//! Sets of classes of which a view has thousands, such as those that list an extended resource.

use super::classes::ClassSet;

/// Classes, in the form that takes less memory.
#[derive(Debug)]
pub(super) enum Members {
    Few(Box<[u32]>),
    Many(ClassSet),
}

impl Members {
    /// The classes of a set.
    pub(super) fn of(set: &ClassSet) -> Self {
        // Four bytes each, or a bit for every class.
        if set.count_ones(..).saturating_mul(32) < set.len() {
            Self::Few(set.ones().filter_map(|class| u32::try_from(class).ok()).collect())
        } else {
            Self::Many(set.clone())
        }
    }

    /// Whether any of them is in a set.
    pub(super) fn meet(&self, set: &ClassSet) -> bool {
        match self {
            Self::Few(classes) => few(classes).any(|class| set.contains(class)),
            Self::Many(classes) => !classes.is_disjoint(set),
        }
    }
}

fn few(classes: &[u32]) -> impl Iterator<Item = usize> {
    classes.iter().filter_map(|class| usize::try_from(*class).ok())
}
