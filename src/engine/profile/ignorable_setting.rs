//! How far annotations may set findings aside.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Findings that annotation `fabric-admission.dev/ignore.FABnnn` may ignore: `warnings` (default; warnings and info
/// findings) or `errors` (errors too).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Ignorable {
    /// Warnings and info findings.
    #[default]
    Warnings,
    /// Errors, warnings and info findings.
    Errors,
}
