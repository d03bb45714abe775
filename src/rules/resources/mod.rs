//! FAB2xx: device resources, quantities and claims.

mod quantities;
mod units;

use super::Rule;

/// Rules of the group, by id.
pub(super) static RULES: &[&dyn Rule] =
    &[&quantities::Quantity, &quantities::FewerUnits, &units::OtherContainer, &units::MoreUnits];
