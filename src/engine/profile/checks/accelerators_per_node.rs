//! Checks of `acceleratorsPerNode`.

use crate::profile::profile_error::{Fail, ProfileError};
use crate::profile::schema::Spec;

/// Accelerators of a node where a profile says nothing: the HGX and DGX baseboards have eight.
const DEFAULT_ACCELERATORS: u32 = 8;

/// The number of accelerators (count), or its default.
pub(in crate::profile) fn checked_or_default(spec: &Spec, fail: &Fail<'_>) -> Result<u32, ProfileError> {
    let accelerators_per_node = spec.accelerators_per_node.unwrap_or(DEFAULT_ACCELERATORS);
    if !(1..=64).contains(&accelerators_per_node) {
        return Err(fail("/spec/acceleratorsPerNode", "expected 1 to 64".into()));
    }
    Ok(accelerators_per_node)
}
