//! The `status` of a FabricProfile, as the API server keeps it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Findings about the profile in this cluster. The server writes them and never reads them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FabricProfileStatus {
    /// The `metadata.generation` that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
    // Text, so that an older server reads the words of a newer one.
    /// Transport of the profile: its own or the base's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub transport: Option<String>,
    /// Attachment of the profile: its own or the base's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub attachment: Option<String>,
    /// Priority of the profile: its own, the base's or 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// Nodes that `spec.nodeSelector` selects (count).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matching_nodes: Option<u32>,
    /// Namespaces that may use the profile, as far as they are known: those with mode `enforce` that it admits, and those
    /// whose default profile it is (count).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matching_namespaces: Option<u32>,
    /// The first of these namespaces, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub namespaces: Vec<String>,
    /// Reasons why the profile is not used, and objects that the profile names but the cluster does not have. Empty without
    /// problems.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub problems: Vec<Problem>,
}

/// One problem of a profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// JSON pointer of the field, such as `/spec/rails/0/network`.
    #[schemars(length(max = 1024))]
    pub pointer: String,
    /// The problem and the expected value.
    #[schemars(length(max = 4096))]
    pub message: String,
}
