//! FAB4xx: variables of NCCL and its companions.

mod carriers;
pub mod numbers;
mod values;

use super::Rule;

/// Rules of the group, by id.
pub(super) static RULES: &[&dyn Rule] = &[
    &values::IbDisabled,
    &values::WordForNumber,
    &values::DiffersFromProfile,
    &carriers::EnvFrom,
    &carriers::RanksOverSsh,
    &carriers::NoFiles,
    &carriers::UnknownVersion,
];
