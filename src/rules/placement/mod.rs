//! FAB7xx: placement, topology, gangs, capacity and quota.

pub(super) mod landing;
mod nodes;
mod operators;

use super::Rule;

/// Rules of the group, by id.
pub(super) static RULES: &[&dyn Rule] =
    &[&nodes::NotListed, &operators::MixedLinks, &nodes::DriverAwaited, &operators::Unsettled];
