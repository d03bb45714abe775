//! The identity of a finding from run to run, for baselines: rule, object, and the path with list items by their names. Lines, texts
//! and indexes are not part of it, so it survives moved lines, new wording and reordered lists.

use crate::text::escaped_and_cut;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which object a finding is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectName {
    /// Namespace; null for kinds without one.
    pub namespace: Option<String>,
    /// `apiVersion`.
    pub api_version: String,
    /// `kind`.
    pub kind: String,
    /// `metadata.name`; null if the objects are known by `generateName`.
    pub name: Option<String>,
    /// `metadata.generateName` of objects without an owner; null for all others.
    pub generate_name: Option<String>,
}

impl ObjectName {
    /// API group; empty for the core group.
    #[must_use]
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// The name as people read it.
    #[must_use]
    pub fn name_or_generate_name(&self) -> String {
        match (&self.name, &self.generate_name) {
            (Some(name), _) => name.clone(),
            (None, Some(prefix)) => format!("{prefix}*"),
            (None, None) => "(no name)".to_owned(),
        }
    }
}

impl ObjectName {
    /// Kind, namespace and name on one line.
    #[must_use]
    pub fn kind_namespace_and_name(&self) -> String {
        let place =
            self.namespace.as_deref().map(|n| format!("{}/", escaped_and_cut(n, 63))).unwrap_or_default();
        format!(
            "{} {place}{}",
            escaped_and_cut(&self.kind, 60),
            escaped_and_cut(&self.name_or_generate_name(), 253)
        )
    }
}

/// A finding without its words and its place in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Fingerprint")]
pub struct FindingIdentity {
    /// Id of the rule.
    pub rule: String,
    /// The object: for a pod, its top owner.
    pub object: ObjectName,
    /// Path in the pod, the pod template or the object, with list items by name: `/spec/containers/name=trainer/image`.
    pub path: String,
}
