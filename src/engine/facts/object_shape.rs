//! The shape that most objects share.

use crate::json::types_of_decoded_fields::optional_struct;
use serde::Deserialize;
use serde_json::value::RawValue;

/// An object with `metadata` and `spec`; other fields are not read.
#[derive(Debug, Deserialize)]
#[serde(bound(deserialize = "S: Deserialize<'de>"))]
pub(super) struct Object<S> {
    #[serde(default, deserialize_with = "optional_struct")]
    metadata: Option<Meta>,
    #[serde(default, deserialize_with = "optional_struct")]
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
    pub(super) fn resource_version(&self) -> Option<String> {
        text_of_resource_version(self.resource_version.as_deref())
    }
}

/// Text of a `metadata.resourceVersion`.
pub(super) fn text_of_resource_version(raw: Option<&RawValue>) -> Option<String> {
    serde_json::from_str(raw?.get()).ok()
}

impl<S> Object<S> {
    pub(super) fn into_meta_and_spec(self) -> (Meta, Option<S>) {
        (self.metadata.unwrap_or_default(), self.spec)
    }
}

/// Text of a field; `None` if it is missing or empty, which Go's decoder does not distinguish.
pub(super) fn non_empty(field: Option<String>) -> Option<String> {
    field.filter(|t| !t.is_empty())
}

/// Most bytes of the name of an object or a driver (k8s.io/apimachinery pkg/util/validation, `DNS1123SubdomainMaxLength`).
pub(super) const MAX_NAME_LENGTH: usize = 253;

/// A count of a field; `None` if it is missing or negative.
pub(super) fn count_if_not_negative(field: Option<i64>) -> Option<u32> {
    field.and_then(|n| u32::try_from(n).ok())
}
