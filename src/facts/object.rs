//! The shape that most objects share.

use crate::json::values::mapping;
use serde::Deserialize;

/// An object with `metadata` and `spec`; other fields are not looked at.
#[derive(Debug, Deserialize)]
#[serde(bound(deserialize = "S: Deserialize<'de>"))]
pub(super) struct Object<S> {
    #[serde(default, deserialize_with = "mapping")]
    metadata: Option<Meta>,
    #[serde(default, deserialize_with = "mapping")]
    pub(super) spec: Option<S>,
}

/// The part of `metadata` that names an object.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Meta {
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) namespace: Option<String>,
}

impl<S> Object<S> {
    pub(super) fn split(self) -> (Meta, Option<S>) {
        (self.metadata.unwrap_or_default(), self.spec)
    }
}

/// Text of a field; `None` where it is missing or empty, which Go's decoder does not tell apart.
pub(super) fn text(field: Option<String>) -> Option<String> {
    field.filter(|t| !t.is_empty())
}

/// A count of a field; `None` where it is missing or below zero.
pub(super) fn number(field: Option<i64>) -> Option<u32> {
    field.and_then(|n| u32::try_from(n).ok())
}
