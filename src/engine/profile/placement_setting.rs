//! Where the pods of a profile go.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether the profile's pods are restricted to the profile's nodes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Placement {
    /// Whether pods are restricted to the nodes of `nodeSelector`: `none` (default) or `required` (the webhook adds
    /// `nodeSelector` as required node affinity; the pod's own affinity still applies).
    #[serde(default)]
    pub node_affinity: NodeAffinity,
}

/// Whether pods are restricted to the nodes of their profile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NodeAffinity {
    /// The webhook adds nothing.
    #[default]
    None,
    /// The webhook adds `nodeSelector` as required node affinity; the pod's own affinity still applies.
    Required,
}
