//! The patch document: operations written one after the other into one text, which the answer takes as it is. A review
//! once made several texts for each operation: 59 of the 397 allocations of a pod that names its profile.

use crate::json::types_of_decoded_fields::Text;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::fmt;

/// Operations in one text.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Patch {
    /// Empty without operations.
    text: String,
}

impl Patch {
    /// Whether it changes nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Removes all operations.
    pub fn clear(&mut self) {
        self.text.clear();
    }

    /// The patch document that the API server reads.
    #[must_use]
    pub fn text(&self) -> &str {
        if self.is_empty() { "[]" } else { &self.text }
    }

    /// The operations one by one, for reports. They are read from the text again.
    #[must_use]
    pub fn read_operations(&self) -> Vec<Operation<'_>> {
        serde_json::from_str(self.text()).unwrap_or_default()
    }
}

impl fmt::Debug for Patch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// One operation.
#[derive(Debug, Clone, Deserialize)]
pub struct Operation<'p> {
    /// `add` or `replace`.
    pub op: &'p str,
    /// JSON pointer.
    #[serde(borrow)]
    pub path: Text<'p>,
    /// Value.
    #[serde(borrow)]
    pub value: &'p RawValue,
}

/// Writes operations.
#[derive(Default)]
pub(super) struct PatchWriter {
    text: String,
}

impl PatchWriter {
    /// Adds an operation. `path` writes what stands between the quotes.
    pub(super) fn push(
        &mut self,
        op: &'static str,
        path: impl FnOnce(&mut String),
        value: impl FnOnce(&mut String),
    ) {
        let out = &mut self.text;
        if out.is_empty() {
            // Most patches are longer than a kilobyte.
            out.reserve(2048);
        }
        out.push_str(if out.is_empty() { "[{\"op\":\"" } else { ",{\"op\":\"" });
        out.push_str(op);
        out.push_str("\",\"path\":\"");
        path(out);
        out.push_str("\",\"value\":");
        value(out);
        out.push('}');
    }

    /// The operations as a patch.
    pub(super) fn finish(mut self) -> Patch {
        if !self.text.is_empty() {
            self.text.push(']');
        }
        Patch { text: self.text }
    }
}
