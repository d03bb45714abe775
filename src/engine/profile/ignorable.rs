//! How far annotations may set findings aside.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Findings that annotation `fabric-admission.dev/ignore.FABnnn` may ignore: `warnings` (default), or `errors` as well.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Ignorable {
    /// Findings of severity warning and info.
    #[default]
    Warnings,
    /// Errors as well.
    Errors,
}
