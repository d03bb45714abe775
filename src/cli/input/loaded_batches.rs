//! Inputs as they were read: the first documents with facts decoded, other documents as places to read, so that memory
//! does not grow with the number of documents.

use super::errors_of_a_file::{
    FileErrors, PartOfFile, UnreadAndSkippedInputs, shown_name_of_input, unreadable,
};
use super::text_read_again::KeptText;
use crate::manifest::{self, Document, Part};
use crate::report::source_line_snippet::{LineStarts, LinesOfFile};
use crate::report::{Place, Source, UnreadInput};
use rayon::prelude::*;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

/// One file, or a part of it, and its documents.
#[derive(Default)]
pub(in crate::cli) struct LoadedFile {
    /// Bytes as read: unchanged documents are written again as they came.
    pub(in crate::cli) text: Vec<u8>,
    /// The line that the text starts at, from 1.
    pub(in crate::cli) line: u32,
    /// Whether the part before it is of the same file.
    pub(in crate::cli) continues: bool,
    pub(in crate::cli) documents: Vec<Document>,
    starts: LineStarts,
}

impl LoadedFile {
    pub(super) fn new(text: Vec<u8>, line: u32, continues: bool, documents: Vec<Document>) -> Self {
        Self { text, line, continues, documents, starts: LineStarts::default() }
    }

    /// Its lines, by their numbers in the file.
    pub(in crate::cli) fn lines(&self) -> LinesOfFile<'_> {
        LinesOfFile::new(&self.text, self.line, &self.starts)
    }
}

/// Everything that was read, in order.
#[derive(Default)]
pub(in crate::cli) struct Loaded {
    pub(super) parts: Vec<LoadedPart>,
}

/// A part of an input.
pub(super) struct LoadedPart {
    pub(super) content: Content,
    /// Found in the first reading; most parts have none.
    pub(super) problems: Option<Box<UnreadAndSkippedInputs>>,
}

pub(super) enum Content {
    Decoded(LoadedFile),
    /// A whole file, to be decoded.
    Whole(Arc<Path>, KeptText),
    /// A part of a file that has been decoded once.
    Again(Box<PartToDecodeAgain>),
}

/// To be decoded again.
pub(super) struct PartToDecodeAgain {
    pub(super) name: Arc<str>,
    pub(super) kept: KeptText,
    /// See [`length_with_aliases_written_out`].
    pub(super) length: usize,
    pub(super) line: u32,
    pub(super) continues: bool,
    /// Number of the documents before it in the file.
    pub(super) index: usize,
}

/// A part with its documents at hand.
pub(in crate::cli) enum DecodedFile<'a> {
    Held(&'a LoadedFile),
    Read(LoadedFile),
}

impl Deref for DecodedFile<'_> {
    type Target = LoadedFile;
    fn deref(&self) -> &LoadedFile {
        match self {
            Self::Held(file) => file,
            Self::Read(file) => file,
        }
    }
}

/// Some parts, and what was found while they were read.
#[derive(Default)]
pub(in crate::cli) struct Batch<'a> {
    pub(in crate::cli) files: Vec<DecodedFile<'a>>,
    pub(in crate::cli) problems: UnreadAndSkippedInputs,
}

/// Text of one batch (bytes), about. The results of a batch are in memory together.
const BATCH: usize = 512 << 10;

/// The length of a text, or of its documents with their YAML aliases written out, if that is more (bytes). A short text may have
/// thousands of objects.
pub(super) fn length_with_aliases_written_out(text: &[u8], documents: &[Document]) -> usize {
    text.len().max(documents.iter().map(|document| document.json.get().len()).sum())
}

impl Loaded {
    /// Everything in order, as much at once as is decided in parallel. An input that has changed since it was read first is
    /// an error.
    pub(in crate::cli) fn batches(&self) -> impl Iterator<Item = Batch<'_>> {
        let mut left = self.parts.as_slice();
        std::iter::from_fn(move || {
            let (now, rest) = left.split_at_checked(count_parts_of_next_batch(left))?;
            left = rest;
            if now.is_empty() {
                return None;
            }
            let mut batch = Batch::default();
            let ready: Vec<_> = now.par_iter().map(LoadedPart::decoded_or_read_again).collect();
            for (file, problems) in ready {
                batch.problems.append(problems);
                batch.files.extend(file);
            }
            Some(batch)
        })
    }

    /// Takes out what was found in the first reading.
    pub(super) fn take_problems(&mut self) -> UnreadAndSkippedInputs {
        let mut all = UnreadAndSkippedInputs::default();
        for problems in self.parts.iter_mut().filter_map(|part| part.problems.take()) {
            all.append(*problems);
        }
        all
    }

    /// Adds an input that cannot be read.
    pub(super) fn add_unread_input(&mut self, unread: UnreadInput) {
        let problems =
            UnreadAndSkippedInputs { unread: vec![(unread, None)], ..UnreadAndSkippedInputs::default() };
        let content = Content::Decoded(LoadedFile::default());
        self.parts.push(LoadedPart { content, problems: Some(Box::new(problems)) });
    }

    /// Adds problems to the last part.
    pub(super) fn add_problems(&mut self, problems: UnreadAndSkippedInputs) {
        if !problems.is_empty()
            && let Some(last) = self.parts.last_mut()
        {
            last.problems.get_or_insert_default().append(problems);
        }
    }
}

/// How many of some parts are the next batch.
fn count_parts_of_next_batch(parts: &[LoadedPart]) -> usize {
    let mut bytes = 0;
    let mut ends = |part: &LoadedPart| {
        bytes += part.content.len();
        bytes >= BATCH
    };
    parts.iter().position(&mut ends).map_or(parts.len(), |last| last + 1)
}

impl Content {
    /// Bytes, with aliases written out as far as that is known.
    fn len(&self) -> usize {
        match self {
            Self::Decoded(file) => length_with_aliases_written_out(&file.text, &file.documents),
            Self::Whole(_, kept) => kept.len(),
            Self::Again(again) => again.length,
        }
    }
}

impl LoadedPart {
    fn decoded_or_read_again(&self) -> (Option<DecodedFile<'_>>, UnreadAndSkippedInputs) {
        let known = self.problems.as_deref().cloned().unwrap_or_default();
        let (name, kept) = match &self.content {
            Content::Decoded(file) => return (Some(DecodedFile::Held(file)), known),
            Content::Whole(path, kept) => (Arc::from(shown_name_of_input(path)), kept),
            Content::Again(again) => (Arc::clone(&again.name), &again.kept),
        };
        let text_with_replaced_bytes = match kept.read_again_and_compare() {
            Ok(text_with_replaced_bytes) => text_with_replaced_bytes,
            Err(error) => {
                let mut problems = known;
                let line = if let Content::Again(again) = &self.content { again.line } else { 1 };
                problems.unread.push((UnreadInput { line, ..unreadable(&name, &error.to_string()) }, None));
                return (None, problems);
            }
        };
        let (line, continues, before) = match &self.content {
            Content::Again(again) => (again.line, again.continues, again.index),
            Content::Decoded(_) | Content::Whole(..) => (1, false, 0),
        };
        let mut of_file = FileErrors::after_documents(before);
        let part = PartOfFile { name: &name, bytes: &text_with_replaced_bytes, continues, last: true };
        let documents = of_file.take_errors_and_number_documents(
            part,
            manifest::read_part_of_file(&name, &text_with_replaced_bytes, line),
        );
        // A part that was decoded before has had its problems noted then.
        let problems = if let Content::Whole(..) = &self.content { of_file.end() } else { known };
        (
            Some(DecodedFile::Read(LoadedFile::new(text_with_replaced_bytes, line, continues, documents))),
            problems,
        )
    }
}

/// Where an object of a document stands: its text starts at byte `start` of the document's JSON.
pub(in crate::cli) fn source_of_object(document: &Document, start: usize, pointer: &str) -> Source {
    let part = Part { start, pointer: "" };
    let line =
        if pointer.is_empty() { document.line } else { document.position_in_part_at_or_above(part, "").line };
    Source { file: Arc::clone(&document.file), document: document.index, line, pointer: pointer.to_owned() }
}

/// The place of a value in a part of a document, such as an object.
pub(in crate::cli) fn place_of_value(document: &Document, part: Part<'_>, pointer: &str) -> Place {
    let position = document.position_in_part_at_or_above(part, pointer);
    Place { line: position.line, column: position.column }
}
