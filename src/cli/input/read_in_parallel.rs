//! Reads inputs part by part: decodes in parallel what the first reading needs, shows its documents once, and keeps some.

use super::errors_of_a_file::{
    FileErrors, PartOfFile, shown_name_of_input, unread_because_not_opened, unreadable,
};
use super::loaded_batches::{
    Content, Loaded, LoadedFile, LoadedPart, PartToDecodeAgain, length_with_aliases_written_out,
};
use super::parts_of_a_stream::{PartOfInput, PartReader, WhereToReadAgain};
use super::text_read_again::Spool;
use super::which_texts_may_hold_facts::FactKinds;
use crate::manifest::{self, Document, DocumentOrError};
use crate::report::UnreadInput;
use memchr::memmem;
use rayon::prelude::*;
use std::path::Path;
use std::sync::Arc;

/// Text whose documents stay decoded (bytes). Further documents are decoded a second time as they are reviewed.
const MAX_BYTES_KEPT_DECODED: usize = 8 << 20;
/// What a decoded document takes at least (bytes), however short it is.
const MIN_WEIGHT_OF_DOCUMENT: usize = 1 << 10;
/// Text that is decoded in parallel (bytes), about.
const BYTES_DECODED_AT_ONCE: usize = 2 << 20;
/// Parts that are decoded in parallel.
const PARTS_AT_ONCE: usize = 512;

/// The documents that the first reading needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    All,
    /// Those that may be facts. A file without one is decoded as it is reviewed.
    Facts,
}

/// Reads the inputs of one run.
pub(super) struct InputReader<'v> {
    pub(super) loaded: Loaded,
    visit: &'v mut dyn FnMut(&[Document]),
    needs: Needs,
    kinds: FactKinds,
    allow_empty: bool,
    waiting: Vec<PartToDecode>,
    /// What the text in `waiting` counts for (bytes).
    bytes: usize,
    /// What the text counts for whose documents stay decoded (bytes).
    kept: usize,
    spool: Spool,
    of_file: FileErrors,
}

/// A part that is to be decoded.
pub(super) struct PartToDecode {
    pub(super) name: Arc<str>,
    pub(super) part: PartOfInput,
    pub(super) continues: bool,
    /// Whether it is the last of its file.
    pub(super) last: bool,
    /// Whether it is an empty standard input, which is an error.
    pub(super) empty: bool,
}

impl<'v> InputReader<'v> {
    pub(super) fn new(needs: Needs, allow_empty: bool, visit: &'v mut dyn FnMut(&[Document])) -> Self {
        Self {
            loaded: Loaded::default(),
            visit,
            needs,
            kinds: FactKinds::new(),
            allow_empty,
            waiting: Vec::new(),
            bytes: 0,
            kept: 0,
            spool: Spool::default(),
            of_file: FileErrors::default(),
        }
    }

    /// Reads a file or standard input. Returns whether it is a directory instead.
    pub(super) fn read_unless_directory(&mut self, path: &Path) -> bool {
        match PartReader::open(path) {
            Ok(Some(parts)) => self.read_parts(path, parts),
            Ok(None) => return true,
            Err(error) => self.add_unread_in_order(unread_because_not_opened(path, &error)),
        }
        false
    }

    fn read_parts(&mut self, path: &Path, mut parts: PartReader) {
        let name: Arc<str> = Arc::from(shown_name_of_input(path));
        let mut continues = false;
        loop {
            let line = parts.line();
            match parts.next() {
                Ok(None) => return,
                Ok(Some(part)) => {
                    let last = parts.ended();
                    let alone = last && !continues && path == Path::new("-");
                    let empty = !self.allow_empty && alone && part.text.trim_ascii().is_empty();
                    self.add_part_and_decode_when_full(PartToDecode {
                        name: Arc::clone(&name),
                        part,
                        continues,
                        last,
                        empty,
                    });
                }
                Err(error) => {
                    self.decode_waiting_parts();
                    let problems = std::mem::take(&mut self.of_file).end();
                    self.loaded.add_problems(problems);
                    return self
                        .add_unread_in_order(UnreadInput { line, ..unreadable(&name, &error.to_string()) });
                }
            }
            continues = true;
        }
    }

    /// Adds a part behind those before it.
    pub(super) fn add_part_and_decode_when_full(&mut self, waiting: PartToDecode) {
        let text = &waiting.part.text;
        let separators = memmem::find_iter(text, b"\n---").count();
        self.bytes += weight(text.len(), separators);
        self.waiting.push(waiting);
        if self.bytes >= BYTES_DECODED_AT_ONCE || self.waiting.len() >= PARTS_AT_ONCE {
            self.decode_waiting_parts();
        }
    }

    /// Adds an error behind those of the inputs before it.
    pub(super) fn add_unread_in_order(&mut self, unread: UnreadInput) {
        self.decode_waiting_parts();
        self.loaded.add_unread_input(unread);
    }

    /// Everything that was read.
    pub(super) fn end(mut self) -> Loaded {
        self.decode_waiting_parts();
        self.loaded
    }

    /// Decodes the parts that wait.
    fn decode_waiting_parts(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        self.bytes = 0;
        let (needs, kinds) = (self.needs, &self.kinds);
        let decoded: Vec<_> = waiting
            .par_iter()
            .map(|w| {
                w.is_needed(needs, kinds)
                    .then(|| manifest::read_part_of_file(&w.name, &w.part.text, w.part.line))
            })
            .collect();
        for (waiting, decoded) in waiting.into_iter().zip(decoded) {
            match decoded {
                Some(decoded) => self.take_decoded_part(waiting, decoded),
                None => {
                    let PartToDecode { name, part, .. } = waiting;
                    let path = match &part.place {
                        WhereToReadAgain::File { path, .. } => Arc::clone(path),
                        WhereToReadAgain::Stream => Arc::from(Path::new(&*name)),
                    };
                    let content = Content::Whole(path, self.spool.keep_text_in_file_or_memory(part));
                    self.loaded.parts.push(LoadedPart { content, problems: None });
                }
            }
        }
    }

    /// Takes a part that is decoded.
    fn take_decoded_part(&mut self, waiting: PartToDecode, decoded: (Vec<DocumentOrError>, usize)) {
        let PartToDecode { name, part, continues, last, empty } = waiting;
        if empty {
            let message = "standard input is empty: the command before the pipe may have failed; to accept empty input, \
                           use --allow-empty";
            self.of_file = FileErrors::default();
            return self.loaded.add_unread_input(unreadable(&name, message));
        }
        let (line, index) = (part.line, self.of_file.index);
        let of_part = PartOfFile { name: &name, bytes: &part.text, continues, last };
        let documents = self.of_file.take_errors_and_number_documents(of_part, decoded);
        (self.visit)(&documents);
        let length = length_with_aliases_written_out(&part.text, &documents);
        self.kept = self.kept.saturating_add(weight(length, documents.len()));
        // A file of one part is kept with the others of its size; what is above the limit is read again.
        let content = match self.kept <= MAX_BYTES_KEPT_DECODED {
            true => Content::Decoded(LoadedFile::new(part.text, line, continues, documents)),
            false => {
                let kept = self.spool.keep_text_in_file_or_memory(part);
                Content::Again(Box::new(PartToDecodeAgain { name, kept, length, line, continues, index }))
            }
        };
        self.loaded.parts.push(LoadedPart { content, problems: None });
        if last {
            let problems = std::mem::take(&mut self.of_file).end();
            self.loaded.add_problems(problems);
        }
    }
}

/// What a text counts for (bytes). A million documents of a few bytes would otherwise take 70 times their text.
fn weight(length: usize, documents: usize) -> usize {
    length.max(documents.saturating_mul(MIN_WEIGHT_OF_DOCUMENT))
}

impl PartToDecode {
    /// Whether the first reading needs its documents. A part of a file has to be decoded for the numbers of the documents
    /// behind it, and a stream is read once.
    fn is_needed(&self, needs: Needs, kinds: &FactKinds) -> bool {
        let is_file =
            matches!(self.part.place, WhereToReadAgain::File { .. }) && self.last && !self.continues;
        needs == Needs::All || !is_file || kinds.may_be_in(&self.part.text)
    }
}
