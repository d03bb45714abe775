//! The names in an object's metadata, as far as an answer or the log needs them. A caller may have invented them.

use crate::json::reader;
use crate::json::types_of_decoded_fields::{Objects, Text, optional_struct};
use crate::pod::PodView;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Deserialize)]
struct Object<'a> {
    #[serde(borrow, default, deserialize_with = "optional_struct")]
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

/// What a request's object says about its name and its owners.
pub(super) trait Named {
    /// The names; empty where they cannot be read.
    fn names(&self) -> ObjectMeta<'_>;
}

impl Named for &RawValue {
    fn names(&self) -> ObjectMeta<'_> {
        ObjectMeta::of(self.get())
    }
}

impl Named for PodView<'_> {
    fn names(&self) -> ObjectMeta<'_> {
        fn borrowed<'t>(text: &'t Option<Text<'_>>) -> Option<Text<'t>> {
            text.as_deref().map(|text| Text(Cow::Borrowed(text)))
        }
        let Some(metadata) = &self.metadata else { return ObjectMeta::default() };
        ObjectMeta {
            name: borrowed(&metadata.name),
            generate_name: borrowed(&metadata.generate_name),
            owner_references: metadata.owner_references.and_then(|list| reader::read(list.get()).ok()),
        }
    }
}

impl<'a> ObjectMeta<'a> {
    /// Reads it from the text of an object; empty where it cannot be read.
    pub(super) fn of(json: &'a str) -> Self {
        let object: Option<Object<'_>> = reader::read(json).ok();
        object.and_then(|object| object.metadata).unwrap_or_default()
    }

    /// The controller that made the object. The API server accepts only one (k8s.io/apimachinery pkg/api/validation,
    /// ValidateOwnerReferences).
    pub(super) fn controller(&self) -> Option<&Owner<'a>> {
        self.owner_references.as_deref().unwrap_or_default().iter().find(|o| o.controller == Some(true))
    }
}
