//! FAB7xx: placement, topology, gangs, capacity and quota.

use super::Rule;

/// Rules of the group, by id.
pub(super) static RULES: &[&dyn Rule] = &[];
