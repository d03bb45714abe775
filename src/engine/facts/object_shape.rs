//! The shape that most objects share.

use crate::json::null_as_absent::mapping;
use serde::Deserialize;
use serde_json::value::RawValue;

/// An object with `metadata` and `spec`; other fields are not read.
#[derive(Debug, Deserialize)]
#[serde(bound(deserialize = "S: Deserialize<'de>"))]
pub(super) struct Object<S> {
    #[serde(default, deserialize_with = "mapping")]
    metadata: Option<Meta>,
    #[serde(default, deserialize_with = "mapping")]
    pub(super) spec: Option<S>,
}

/// The part of `metadata` that names an object and its version.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Meta {
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) namespace: Option<String>,
    /// In a file it may have any type: a fact does not depend on it.
    #[serde(default)]
    pub(super) resource_version: Option<Box<RawValue>>,
}

impl Meta {
    /// Version of the object.
    pub(super) fn version(&self) -> Option<String> {
        version(self.resource_version.as_deref())
    }
}

/// Text of a `metadata.resourceVersion`.
pub(super) fn version(raw: Option<&RawValue>) -> Option<String> {
    serde_json::from_str(raw?.get()).ok()
}

impl<S> Object<S> {
    pub(super) fn split(self) -> (Meta, Option<S>) {
        (self.metadata.unwrap_or_default(), self.spec)
    }
}

/// Text of a field; `None` if it is missing or empty, which Go's decoder does not distinguish.
pub(super) fn text(field: Option<String>) -> Option<String> {
    field.filter(|t| !t.is_empty())
}

/// Most bytes of the name of an object or a driver (k8s.io/apimachinery pkg/util/validation, `DNS1123SubdomainMaxLength`).
pub(super) const MAX_NAME: usize = 253;

/// A count of a field; `None` if it is missing or negative.
pub(super) fn number(field: Option<i64>) -> Option<u32> {
    field.and_then(|n| u32::try_from(n).ok())
}
