//! What the parts of one file share: the numbers of its documents, and its errors.

use crate::manifest::{self, Document, DocumentOrError, InputError};
use crate::report::{Skipped, Source, UnreadInput};
use crate::text::count_with_noun;
use std::io;
use std::path::Path;

/// Documents of one input that are reported as unreadable; more are counted.
const MAX_UNREADABLE: usize = 1_000;

/// What cannot be reviewed of some inputs.
#[derive(Debug, Clone, Default)]
pub(in crate::cli) struct UnreadAndSkippedInputs {
    /// Errors, with a snippet of the file.
    pub(in crate::cli) unread: Vec<(UnreadInput, Option<String>)>,
    pub(in crate::cli) skipped: Vec<Skipped>,
}

impl UnreadAndSkippedInputs {
    pub(in crate::cli) fn append(&mut self, mut other: Self) {
        self.unread.append(&mut other.unread);
        self.skipped.append(&mut other.skipped);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.unread.is_empty() && self.skipped.is_empty()
    }
}

/// What the parts of one file share.
#[derive(Default)]
pub(super) struct FileErrors {
    /// Number of the documents so far.
    pub(super) index: usize,
    /// Whether any part has an item.
    any: bool,
    /// Every document of a template fails for the same reason: the first is reported, and the others are counted. The
    /// cause, the number of its error, and the number of the others.
    templates: Vec<(&'static str, usize, usize)>,
    /// Errors that are reported, and the first of those that are only counted, with their number.
    errors: usize,
    more: Option<(UnreadInput, usize)>,
    problems: UnreadAndSkippedInputs,
}

/// A part of a file.
#[derive(Clone, Copy)]
pub(super) struct PartOfFile<'a> {
    pub(super) name: &'a str,
    pub(super) bytes: &'a [u8],
    /// Whether the part before it is of the same file.
    pub(super) continues: bool,
    /// Whether it is the last of its file.
    pub(super) last: bool,
}

impl FileErrors {
    /// For a part with so many documents before it.
    pub(super) fn after_documents(index: usize) -> Self {
        Self { index, ..Self::default() }
    }

    /// Takes what was read of a part: its items, and how many documents they are. Returns the documents.
    pub(super) fn take_errors_and_number_documents(
        &mut self,
        text: PartOfFile<'_>,
        (items, indexes): (Vec<DocumentOrError>, usize),
    ) -> Vec<Document> {
        let before = self.index;
        self.index += indexes;
        self.any |= !items.is_empty();
        let mut documents = Vec::new();
        for item in items {
            match item {
                DocumentOrError::Document(mut document) => {
                    document.index += before;
                    documents.push(document);
                }
                DocumentOrError::Error(error) => self.add_error(error),
                DocumentOrError::Empty { .. } => {}
            }
        }
        if text.last && !self.any {
            let reason = if text.continues { "no document" } else { manifest::why_no_document(text.bytes) };
            let source = Source { file: text.name.into(), document: 0, line: 1, pointer: String::new() };
            self.problems.skipped.push(Skipped { source, reason: reason.to_owned() });
        }
        documents
    }

    fn add_error(&mut self, error: InputError) {
        let cause = manifest::template_cause_in_message(&error.message);
        if let Some((.., more)) = self.templates.iter_mut().find(|(known, ..)| Some(*known) == cause) {
            *more += 1;
            return;
        }
        self.templates.extend(cause.map(|cause| (cause, self.problems.unread.len(), 0)));
        let found =
            UnreadInput { file: error.file, line: error.line, column: error.column, message: error.message };
        self.errors += 1;
        if self.errors <= MAX_UNREADABLE {
            self.problems.unread.push((found, Some(error.snippet)));
        } else {
            self.more.get_or_insert((found, 0)).1 += 1;
        }
    }

    /// Everything, with what was only counted.
    pub(super) fn end(self) -> UnreadAndSkippedInputs {
        let mut problems = self.problems;
        for (_, index, more) in self.templates.into_iter().filter(|(.., more)| *more > 0) {
            if let Some((unread, _)) = problems.unread.get_mut(index) {
                let others = count_with_noun(more, "more document");
                unread.message.push_str(&format!(" ({others} of this file)"));
            }
        }
        if let Some((first, more)) = self.more {
            let message = format!(
                "{} of this file cannot be read; only the first {MAX_UNREADABLE} are reported",
                count_with_noun(more, "more document")
            );
            problems.unread.push((UnreadInput { message, ..first }, None));
        }
        problems
    }
}

/// An input that cannot be opened.
pub(super) fn unread_because_not_opened(path: &Path, error: &io::Error) -> UnreadInput {
    let message = match error.kind() {
        io::ErrorKind::NotFound => "no such file or directory".to_owned(),
        _ => error.to_string(),
    };
    unreadable(&shown_name_of_input(path), &message)
}

pub(super) fn unreadable(file: &str, message: &str) -> UnreadInput {
    UnreadInput { file: file.into(), line: 1, column: 1, message: message.to_owned() }
}

/// The name of an input, as reports show it.
pub(super) fn shown_name_of_input(path: &Path) -> String {
    if path == Path::new("-") { "<stdin>".to_owned() } else { path.display().to_string() }
}
