//! Where the pods of a profile go.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Placement of a profile's pods.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Placement {
    /// Whether pods are restricted to the nodes of `nodeSelector`: `none` (default), or `required` (it is added as required
    /// node affinity, besides the pod's own).
    #[serde(default)]
    pub node_affinity: NodeAffinity,
}

/// Whether pods are restricted to the nodes of their profile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NodeAffinity {
    /// Nothing is added.
    #[default]
    None,
    /// `nodeSelector` is added as required node affinity, besides the pod's own.
    Required,
}
