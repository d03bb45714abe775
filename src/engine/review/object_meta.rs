//! The names in an object's metadata, as far as an answer or the log needs them. A caller may have invented them.

use crate::json::values::{Objects, Text, mapping};
use serde::Deserialize;

#[derive(Deserialize)]
struct Object<'a> {
    #[serde(borrow, default, deserialize_with = "mapping")]
    metadata: Option<ObjectMeta<'a>>,
}

/// Who an object is, and who made it.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ObjectMeta<'a> {
    #[serde(borrow, default)]
    pub(super) name: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) generate_name: Option<Text<'a>>,
    #[serde(borrow, default)]
    owner_references: Option<Objects<Owner<'a>>>,
}

/// An owner reference.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Owner<'a> {
    #[serde(borrow, default)]
    pub(super) api_version: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) kind: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(super) name: Option<Text<'a>>,
    #[serde(default)]
    controller: Option<bool>,
}

impl<'a> ObjectMeta<'a> {
    /// Reads it from the text of an object; empty where it cannot be read.
    pub(super) fn of(json: &'a str) -> Self {
        let object: Option<Object<'_>> = serde_json::from_str(json).ok();
        object.and_then(|object| object.metadata).unwrap_or_default()
    }

    /// The controller that made the object. The API server accepts only one (k8s.io/apimachinery pkg/api/validation,
    /// ValidateOwnerReferences).
    pub(super) fn controller(&self) -> Option<&Owner<'a>> {
        self.owner_references.as_deref().unwrap_or_default().iter().find(|o| o.controller == Some(true))
    }
}
