//! The annotations of an object of any kind.

use super::reader;
use super::types_of_decoded_fields::{Pairs, Text, optional_struct};
use serde::Deserialize;

/// An object, of which only the annotations are read.
#[derive(Debug, Default, Deserialize)]
pub struct AnnotationsOfObject<'a> {
    #[serde(borrow, default, deserialize_with = "optional_struct")]
    metadata: Option<Metadata<'a>>,
}

#[derive(Debug, Default, Deserialize)]
struct Metadata<'a> {
    #[serde(borrow, default)]
    annotations: Option<Pairs<'a, Text<'a>>>,
}

impl<'a> AnnotationsOfObject<'a> {
    /// The annotations of an object; none if they cannot be read, which FAB809 reports.
    #[must_use]
    pub fn read_or_empty(json: &'a str) -> Self {
        reader::read(json).unwrap_or_default()
    }

    /// Keys and values, in the order of the object.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let annotations = self.metadata.as_ref().and_then(|m| m.annotations.as_ref());
        annotations.into_iter().flat_map(Pairs::iter).map(|(key, value)| (key, &**value))
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        Some(&**self.metadata.as_ref()?.annotations.as_ref()?.get(key)?)
    }
}
