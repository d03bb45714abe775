//! `metadata` of a profile file: the keys that a Kubernetes object has, and no other.

use schemars::JsonSchema;
use serde::de::{Deserializer, IgnoredAny};
use serde::{Deserialize, Serialize};

/// The part of `metadata` that the webhook uses. Other metadata fields of a Kubernetes object are accepted and ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Metadata {
    /// Name of the profile. Pods and namespaces select the profile by this name.
    pub name: String,
}

/// The keys of ObjectMeta (k8s.io/apimachinery pkg/apis/meta/v1/types.go): an exported object loads as it is.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "the keys are only to be known; but for the name they belong to the API server")]
struct ObjectMeta {
    name: String,
    annotations: Option<IgnoredAny>,
    creation_timestamp: Option<IgnoredAny>,
    deletion_grace_period_seconds: Option<IgnoredAny>,
    deletion_timestamp: Option<IgnoredAny>,
    finalizers: Option<IgnoredAny>,
    generate_name: Option<IgnoredAny>,
    generation: Option<IgnoredAny>,
    labels: Option<IgnoredAny>,
    managed_fields: Option<IgnoredAny>,
    namespace: Option<IgnoredAny>,
    owner_references: Option<IgnoredAny>,
    resource_version: Option<IgnoredAny>,
    self_link: Option<IgnoredAny>,
    uid: Option<IgnoredAny>,
}

/// Reads `metadata`; a key that no object has is an error.
pub(super) fn read_metadata_strictly<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Metadata, D::Error> {
    ObjectMeta::deserialize(deserializer).map(|meta| Metadata { name: meta.name })
}
