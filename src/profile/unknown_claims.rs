//! What a profile makes of claims (DRA) whose devices nobody has classified.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a claim (DRA) on devices of an unknown driver means: `block` (default: the devices may be NICs, so neither
/// networks nor units are added) or `ignore` (they are not NICs).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UnknownClaims {
    /// Neither networks nor units are added.
    #[default]
    Block,
    /// The claim changes nothing.
    Ignore,
}
