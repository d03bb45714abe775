//! FAB6xx: fabrics of cloud providers.

use super::Rule;

/// Rules of the group, by id.
pub(super) static RULES: &[&dyn Rule] = &[];
