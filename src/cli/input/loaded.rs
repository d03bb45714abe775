//! Inputs as they were read: the first documents decoded, further ones as places to read again, so that memory does not
//! grow with the number of documents.

use super::parts::KeptText;
use crate::manifest::{self, Document, Item};
use crate::report::{Place, Skipped, Source, Unread};
use rayon::prelude::*;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

/// One file, or a part of it, and its documents.
pub(in crate::cli) struct File {
    /// Bytes as read: unchanged documents are written again as they came.
    pub(in crate::cli) text: Vec<u8>,
    /// The line that the text starts at, from 1.
    pub(in crate::cli) line: u32,
    /// Whether the part before it is of the same file.
    pub(in crate::cli) continues: bool,
    pub(in crate::cli) documents: Vec<Document>,
}

/// Everything that was read, in order.
#[derive(Default)]
pub(in crate::cli) struct Loaded {
    pub(super) parts: Vec<Loading>,
    /// Number of documents.
    pub(in crate::cli) documents: usize,
    pub(in crate::cli) unread: Vec<(Unread, Option<String>)>,
    pub(in crate::cli) skipped: Vec<Skipped>,
}

/// A part of an input.
pub(super) enum Loading {
    Decoded(File),
    /// To be read and decoded again.
    Later {
        name: Arc<str>,
        kept: KeptText,
        line: u32,
        continues: bool,
        index: usize,
    },
}

/// A part with its documents at hand.
pub(in crate::cli) enum Ready<'a> {
    Held(&'a File),
    Read(File),
}

impl Deref for Ready<'_> {
    type Target = File;
    fn deref(&self) -> &File {
        match self {
            Self::Held(file) => file,
            Self::Read(file) => file,
        }
    }
}

/// Documents at hand at once, about.
const BATCH: usize = 1024;
/// Parts that are read again at once.
const PARTS: usize = 2;

impl Loaded {
    /// Everything in order, as much at a time as is decided in parallel. An input that has changed since it was read
    /// first is an error.
    pub(in crate::cli) fn batches(&self) -> impl Iterator<Item = Vec<Result<Ready<'_>, Unread>>> {
        let mut left = self.parts.as_slice();
        std::iter::from_fn(move || {
            let (mut documents, mut again) = (0, 0);
            let full = left.iter().position(|part| {
                match part {
                    Loading::Decoded(file) => documents += file.documents.len(),
                    Loading::Later { .. } => again += 1,
                }
                documents >= BATCH || again >= PARTS
            });
            let (batch, rest) = left.split_at_checked(full.map_or(left.len(), |last| last + 1))?;
            left = rest;
            if batch.is_empty() { None } else { Some(batch.par_iter().map(Loading::ready).collect()) }
        })
    }
}

impl Loading {
    fn ready(&self) -> Result<Ready<'_>, Unread> {
        match self {
            Self::Decoded(file) => Ok(Ready::Held(file)),
            Self::Later { name, kept, line, continues, index } => {
                let text = kept.read().map_err(|error| Unread {
                    file: name.to_string(),
                    line: *line,
                    column: 1,
                    message: format!("the input cannot be read a second time: {error}"),
                })?;
                let documents = decode(name, &text, *line, *index);
                Ok(Ready::Read(File { text, line: *line, continues: *continues, documents }))
            }
        }
    }
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

/// A document by its number in the file, behind so many in the parts before.
pub(super) fn numbered(mut document: Document, before: usize) -> Document {
    document.index += before;
    document
}

/// The documents of a part that is read again.
fn decode(name: &Arc<str>, text: &[u8], line: u32, index: usize) -> Vec<Document> {
    let documents = manifest::part(name, text, line).0.into_iter().filter_map(|item| match item {
        Item::Document(document) => Some(numbered(document, index)),
        Item::Error(_) | Item::Empty { .. } => None,
    });
    documents.collect()
}

/// The name of an input, as reports show it.
pub(super) fn name(path: &Path) -> String {
    if path == Path::new("-") { "<stdin>".to_owned() } else { path.display().to_string() }
}

pub(super) fn unreadable(file: &str, message: &str) -> Unread {
    Unread { file: file.to_owned(), line: 1, column: 1, message: message.to_owned() }
}
