//! The `status` of a FabricProfile, as the API server keeps it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was found about the profile in this cluster. Written by the server, never read by it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FabricProfileStatus {
    /// The `metadata.generation` that the rest of the status is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
    /// Nodes that `spec.nodeSelector` selects (count).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matching_nodes: Option<u32>,
    /// Why the profile is not used, or what it names that the cluster does not have. Empty when all is well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub problems: Vec<Problem>,
}

/// One thing that is wrong with a profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// JSON pointer of the field at fault, such as `/spec/rails/0/network`.
    #[schemars(length(max = 1024))]
    pub pointer: String,
    /// What is wrong, and what is expected.
    #[schemars(length(max = 4096))]
    pub message: String,
}
