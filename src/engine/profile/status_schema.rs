//! The `status` of a FabricProfile, as the API server keeps it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// State of the profile in this cluster. The server writes the status and never reads it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FabricProfileStatus {
    /// The `metadata.generation` that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub observed_generation: Option<i64>,
    // Text, so that an older server reads the words of a newer one.
    /// Transport of the profile, from the profile itself or from its base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub transport: Option<String>,
    /// Attachment of the profile, from the profile itself or from its base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub attachment: Option<String>,
    /// Priority of the profile, from the profile itself or from its base, otherwise 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// Number of nodes that `spec.nodeSelector` selects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matching_nodes: Option<u32>,
    /// Number of namespaces that may use the profile. These are the namespaces with mode `enforce` that
    /// `spec.namespaces` selects, and the namespaces that have this profile as their default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matching_namespaces: Option<u32>,
    /// Names of the namespaces that may use the profile, in alphabetical order, at most 64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub namespaces: Vec<String>,
    /// Reasons why the profile is not used, and objects that the profile names but that do not exist in the cluster.
    /// An empty list means that the profile has no problem.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub problems: Vec<Problem>,
    /// Facts about the profile that are not problems, but that an admin may not expect. For example, that every
    /// namespace may use the profile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub notes: Vec<Problem>,
}

/// A problem of a profile, or a fact about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// JSON pointer of the field, such as `/spec/rails/0/network`.
    #[schemars(length(max = 1024))]
    pub pointer: String,
    /// The problem and the expected value, or the fact.
    #[schemars(length(max = 4096))]
    pub message: String,
}
