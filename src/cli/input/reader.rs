//! Reads inputs part by part: decodes some in parallel, shows their documents once, and keeps the first of them.

use super::loaded::{File, Loaded, Loading, name, numbered, unreadable};
use super::parts::{Part, Parts, Spool};
use crate::manifest::{self, Document, Item};
use crate::report::{Skipped, Source, Unread};
use crate::text::count;
use rayon::prelude::*;
use std::path::Path;
use std::sync::Arc;

/// Text whose documents stay decoded (bytes). Further documents are decoded a second time as they are reviewed.
const KEEP: usize = 8 << 20;
/// Text that is decoded in parallel (bytes), about.
const AT_ONCE: usize = 2 << 20;
/// Parts that are decoded in parallel.
const PARTS_AT_ONCE: usize = 512;
/// Documents of one input that are reported as unreadable; more are counted.
const MAX_UNREADABLE: usize = 1_000;

/// Reads the inputs of one run.
pub(super) struct Reader<'v> {
    pub(super) loaded: Loaded,
    pub(super) visit: &'v mut dyn FnMut(&[Document]),
    pub(super) waiting: Vec<Waiting>,
    allow_empty: bool,
    /// Bytes in `waiting`.
    bytes: usize,
    /// Bytes whose documents stay decoded.
    kept: usize,
    spool: Spool,
    of_file: OfFile,
}

/// A part that is to be decoded.
pub(super) struct Waiting {
    pub(super) name: Arc<str>,
    pub(super) part: Part,
    pub(super) continues: bool,
    /// Whether it is the last of its file.
    pub(super) last: bool,
    /// Whether it is an empty standard input, which is an error.
    pub(super) empty: bool,
}

/// What the parts of one file share.
#[derive(Default)]
struct OfFile {
    /// Index of the next document.
    index: usize,
    /// Whether any part has an item.
    any: bool,
    /// Every document of a template fails for the same reason: the first is reported, and the others are counted. The
    /// cause, the place of its error, and their number.
    templates: Vec<(&'static str, usize, usize)>,
    /// Errors that are reported, and the first of those that are only counted, with their number.
    errors: usize,
    more: Option<(Unread, usize)>,
}

impl<'v> Reader<'v> {
    pub(super) fn new(allow_empty: bool, visit: &'v mut dyn FnMut(&[Document])) -> Self {
        Self {
            loaded: Loaded::default(),
            visit,
            waiting: Vec::new(),
            allow_empty,
            bytes: 0,
            kept: 0,
            spool: Spool::default(),
            of_file: OfFile::default(),
        }
    }

    /// Reads a file or standard input.
    pub(super) fn file(&mut self, path: &Path) {
        let name: Arc<str> = Arc::from(name(path));
        let mut parts = match Parts::open(path) {
            Ok(parts) => parts,
            Err(error) => return self.fail(unreadable(&name, &error.to_string())),
        };
        let mut continues = false;
        loop {
            let line = parts.line();
            match parts.next() {
                Ok(None) => return,
                Ok(Some(part)) => {
                    let last = parts.ended();
                    let alone = last && !continues && path == Path::new("-");
                    let empty = !self.allow_empty && alone && part.text.trim_ascii().is_empty();
                    self.bytes += part.text.len();
                    self.waiting.push(Waiting { name: Arc::clone(&name), part, continues, last, empty });
                    if self.bytes >= AT_ONCE || self.waiting.len() >= PARTS_AT_ONCE {
                        self.decode();
                    }
                }
                Err(error) => {
                    self.fail(Unread { line, ..unreadable(&name, &error.to_string()) });
                    self.of_file = OfFile::default();
                    return;
                }
            }
            continues = true;
        }
    }

    /// Adds an error behind those of the inputs before it.
    fn fail(&mut self, unread: Unread) {
        self.decode();
        self.loaded.unread.push((unread, None));
    }

    /// Decodes the parts that wait.
    pub(super) fn decode(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        self.bytes = 0;
        let decoded: Vec<_> =
            waiting.par_iter().map(|w| manifest::part(&w.name, &w.part.text, w.part.line)).collect();
        for (waiting, (items, indexes)) in waiting.into_iter().zip(decoded) {
            self.part(waiting, items, indexes);
        }
    }

    fn part(&mut self, waiting: Waiting, items: Vec<Item>, indexes: usize) {
        let Waiting { name, part, continues, last, empty } = waiting;
        if empty {
            let message = "standard input is empty: the command before the pipe may have failed; to accept empty input, \
                           use --allow-empty";
            self.loaded.unread.push((unreadable(&name, message), None));
            self.of_file = OfFile::default();
            return;
        }
        let index = self.of_file.index;
        self.of_file.index += indexes;
        self.of_file.any |= !items.is_empty();
        if last && !self.of_file.any {
            let reason = if continues { "no document" } else { manifest::without_document(&part.text) };
            let source = Source { file: name.to_string(), document: 0, line: 1, pointer: String::new() };
            self.loaded.skipped.push(Skipped { source, reason: reason.to_owned() });
        }
        let mut documents = Vec::new();
        for item in items {
            match item {
                Item::Document(document) => documents.push(numbered(document, index)),
                Item::Error(error) => self.of_file.error(error, &mut self.loaded.unread),
                Item::Empty { .. } => {}
            }
        }
        if last {
            std::mem::take(&mut self.of_file).end(&mut self.loaded.unread);
        }
        (self.visit)(&documents);
        self.loaded.documents += documents.len();
        let line = part.line;
        self.kept = self.kept.saturating_add(part.text.len());
        // A file of one part is kept with the others of its size; what is above the limit is read again.
        self.loaded.parts.push(match self.kept <= KEEP {
            true => Loading::Decoded(File { text: part.text, line, continues, documents }),
            false => {
                let kept = self.spool.keep(part.place, part.text);
                Loading::Later { name, kept, line, continues, index }
            }
        });
    }
}

impl OfFile {
    fn error(&mut self, error: manifest::InputError, unread: &mut Vec<(Unread, Option<String>)>) {
        let cause = manifest::template_cause(&error.message);
        if let Some((.., more)) = self.templates.iter_mut().find(|(known, ..)| Some(*known) == cause) {
            *more += 1;
            return;
        }
        self.templates.extend(cause.map(|cause| (cause, unread.len(), 0)));
        let found = Unread {
            file: error.file.to_string(),
            line: error.line,
            column: error.column,
            message: error.message,
        };
        self.errors += 1;
        if self.errors <= MAX_UNREADABLE {
            unread.push((found, Some(error.snippet)));
        } else {
            self.more.get_or_insert((found, 0)).1 += 1;
        }
    }

    /// Reports what was only counted.
    fn end(self, unread: &mut Vec<(Unread, Option<String>)>) {
        for (_, index, more) in self.templates.into_iter().filter(|(.., more)| *more > 0) {
            if let Some((unread, _)) = unread.get_mut(index) {
                let others = count(more, "more document");
                unread.message.push_str(&format!(" ({others} of this file)"));
            }
        }
        if let Some((first, more)) = self.more {
            let message = format!(
                "{} of this file cannot be read; only the first {MAX_UNREADABLE} are reported",
                count(more, "more document")
            );
            unread.push((Unread { message, ..first }, None));
        }
    }
}
