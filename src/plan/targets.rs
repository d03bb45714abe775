//! The containers a profile is for: those that ask for accelerators, wherever they stand in the list. Never
//! container 0 by position: a mesh may put its proxy there.

use crate::fabric::Profile;
use crate::pod::{Accelerators, PodView};

/// A container that the profile is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// Index in `spec.containers`.
    pub index: usize,
    /// Whole accelerators it asks for (count, at least 1); where the quantity is unknown, a node's.
    pub accelerators: u32,
}

/// Finds the targets, in the order of the list.
pub(super) fn find(pod: &PodView<'_>, accelerators: &Accelerators, profile: &Profile) -> Vec<Target> {
    pod.containers()
        .iter()
        .enumerate()
        .filter_map(|(index, container)| {
            let demand = accelerators.demand(container);
            let least = if demand.unknown { profile.accelerators_per_node } else { 1 };
            let count = demand.whole.max(least);
            demand.any.then_some(Target { index, accelerators: count })
        })
        .collect()
}
