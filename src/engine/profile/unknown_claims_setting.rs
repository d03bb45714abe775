//! A profile's policy for claims (DRA) on devices of an unknown driver.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Policy for a DRA claim on devices of an unknown driver: `block` (default; the devices may be NICs, so the webhook adds
/// neither networks nor resource units) or `ignore` (the devices are not NICs).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UnknownClaims {
    /// The webhook adds neither networks nor resource units.
    #[default]
    Block,
    /// The claim has no effect.
    Ignore,
}
