//! Files as they were read, and where their objects stand.

use crate::manifest::Document;
use crate::report::{Place, Skipped, Source, Unread};

/// One file and its documents.
pub(in crate::cli) struct File {
    /// Bytes as read: unchanged documents are written again as they came.
    pub(in crate::cli) text: Vec<u8>,
    pub(in crate::cli) documents: Vec<Document>,
}

/// Everything that was read, in order.
pub(in crate::cli) struct Loaded {
    pub(in crate::cli) files: Vec<File>,
    pub(in crate::cli) unread: Vec<(Unread, Option<String>)>,
    pub(in crate::cli) skipped: Vec<Skipped>,
}

/// Where an object of a document stands; `json` is its text in the document.
pub(in crate::cli) fn source(document: &Document, json: &str, pointer: &str) -> Source {
    let line = if pointer.is_empty() { document.line } else { document.locate_in((json, pointer), "").line };
    Source { file: document.file.to_string(), document: document.index, line, pointer: pointer.to_owned() }
}

/// The place of a value in a part of a document, such as an object, given as the part's text and pointer.
pub(in crate::cli) fn place(document: &Document, part: (&str, &str), pointer: &str) -> Place {
    let position = document.locate_in(part, pointer);
    Place { line: position.line, column: position.column }
}
