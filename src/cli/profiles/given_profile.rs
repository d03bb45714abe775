//! Where a value of a profile is.

use crate::cli::input;
use crate::cli::input::documents_to_objects::InputObject;
use crate::text::escaped_and_cut;

/// A FabricProfile as given.
#[derive(Clone, Copy)]
pub(super) enum GivenProfile<'a> {
    /// An object of a file.
    File(&'a InputObject<'a>),
    /// An object of a live cluster.
    Live(&'a str),
    /// A base, with its file.
    BuiltIn(&'a str, &'a InputObject<'a>),
}

impl GivenProfile<'_> {
    pub(super) fn json(&self) -> &str {
        match self {
            Self::File(object) | Self::BuiltIn(_, object) => object.json,
            Self::Live(json) => json,
        }
    }

    /// The object itself: its file and line.
    pub(super) fn source(&self) -> String {
        match self {
            Self::File(object) => self.file_and_line("").unwrap_or_else(|| object.document.file.to_string()),
            Self::Live(_) => "cluster".to_owned(),
            Self::BuiltIn(..) => "built in".to_owned(),
        }
    }

    /// File and line of a field; `None` where the object does not come from a file.
    pub(super) fn file_and_line(&self, pointer: &str) -> Option<String> {
        let Self::File(object) = self else { return None };
        let place = input::place_of_value(object.document, object.part_of_document(), pointer);
        Some(format!("{}:{}", escaped_and_cut(&object.document.file, 300), place.line))
    }

    /// File, line and column of a field.
    pub(super) fn file_line_and_column(&self, pointer: &str) -> Option<String> {
        let Self::File(object) = self else { return None };
        let place = input::place_of_value(object.document, object.part_of_document(), pointer);
        Some(format!("{}:{}:{}", escaped_and_cut(&object.document.file, 300), place.line, place.column))
    }
}
