//! How far annotations may set findings aside.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What annotation `fabric-admission.dev/ignore.FABnnn` may set aside: `warnings` (default) or `errors` as well.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Ignorable {
    /// Warnings and information.
    #[default]
    Warnings,
    /// Errors as well: what cannot work may be tried.
    Errors,
}
