//! Documents of a stream, and the positions of their nodes.

use super::input_error::InputError;
use super::source_positions::{Position, Positions};
use super::{embedded_place, json_pointer};
use serde_json::value::RawValue;
use std::ops::Range;
use std::sync::Arc;

/// One document of a stream.
#[derive(Debug)]
pub struct Document {
    /// The file as the user named it, `<stdin>` for standard input.
    pub file: Arc<str>,
    /// 0-based number of the document in its file; only documents with content count.
    pub index: usize,
    /// 1-based line of its first node.
    pub line: u32,
    /// Compact JSON, key order as written, values as kubectl reads them.
    pub json: Box<RawValue>,
    /// Byte range of the document in its file, without the separator line: for verbatim re-emission.
    pub text: Range<usize>,
    /// Keys given twice; the last one wins, as in kubectl.
    pub warnings: Vec<Duplicate>,
    pub(super) positions: Positions,
    /// Values that YAML aliases repeat: the offset of each copy in the JSON, and where the file has the value.
    pub(super) shared: Vec<(u32, Position)>,
}

/// A mapping key that is written twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duplicate {
    /// RFC 6901 pointer of the entry.
    pub pointer: String,
    /// The key, unescaped.
    pub key: String,
    /// Position of its first occurrence, whose value is lost.
    pub first: Position,
    /// Position of its second occurrence.
    pub second: Position,
}

/// One item of a file, in the order of the file.
#[derive(Debug)]
pub enum Item {
    /// A document that was read.
    Document(Document),
    /// A document, or a part of the file, that cannot be read.
    Error(InputError),
    /// The file has no document at all.
    Empty {
        /// The file as the user named it.
        file: Arc<str>,
        /// Always 0.
        index: usize,
        /// Always 1.
        line: u32,
        /// The content that the file has instead.
        reason: &'static str,
    },
}

impl Document {
    /// Position of the node at an RFC 6901 pointer, or of its nearest ancestor that exists.
    ///
    /// For a mapping entry that is the position of its key, where an editor should jump to; for a sequence
    /// item that of the item. Linear in the size of the document.
    #[must_use]
    pub fn locate(&self, pointer: &str) -> Position {
        self.locate_in((self.json.get(), ""), pointer)
    }

    /// The same below a part of the document, such as an item of a List, given as its text and its pointer: linear in the
    /// size of the part if the text is a slice of [`Document::json`].
    #[must_use]
    pub fn locate_in(&self, part: (&str, &str), pointer: &str) -> Position {
        let found = json_pointer::resolve(self.json.get(), self.start(part), pointer);
        self.positions.at(found.start).unwrap_or(Position { line: self.line, column: 1 })
    }

    /// Whether YAML aliases repeat values of the document.
    #[must_use]
    pub fn has_aliases(&self) -> bool {
        !self.shared.is_empty()
    }

    /// Where the file has the node at a pointer, or its nearest ancestor that exists: the same place for all copies that
    /// YAML aliases make of it. `None` in a document without aliases.
    #[must_use]
    pub fn origin(&self, pointer: &str) -> Option<Position> {
        if self.shared.is_empty() {
            return None;
        }
        let start = json_pointer::resolve(self.json.get(), 0, pointer).start;
        let offset = u32::try_from(start).ok()?;
        let copy = self.shared.binary_search_by_key(&offset, |(offset, _)| *offset).ok();
        let copy = copy.and_then(|at| self.shared.get(at)).map(|(_, position)| *position);
        copy.or_else(|| self.positions.at(start))
    }

    /// Where a part starts in the JSON text. A corrected copy of a part is found by its pointer.
    fn start(&self, (part, at): (&str, &str)) -> usize {
        self.part(part)
            .map_or_else(|| json_pointer::resolve(self.json.get(), 0, at).start, |range| range.start)
    }

    /// Where a part is in the JSON text; `None` for a copy.
    #[must_use]
    pub fn part(&self, part: &str) -> Option<Range<usize>> {
        let (whole, part) = (self.json.get().as_bytes().as_ptr_range(), part.as_bytes().as_ptr_range());
        let offset = |at: *const u8| at.addr() - whole.start.addr();
        (whole.start <= part.start && part.end <= whole.end).then(|| offset(part.start)..offset(part.end))
    }

    /// Position of a character of the string at a pointer below a part, by its line and column in the string, both from 1;
    /// of the string itself if that cannot be found. `file` is the source of the document, from line `first` on.
    #[must_use]
    pub fn locate_within(
        &self,
        (file, first): (&[u8], u32),
        part: (&str, &str),
        pointer: &str,
        (line, column): (u32, u32),
    ) -> Position {
        let entry = self.locate_in(part, pointer);
        let within = || {
            let source = std::str::from_utf8(file).ok()?;
            let value: String = serde_json::from_str(self.text_of(part, pointer)?).ok()?;
            let before = first.saturating_sub(1);
            let inside = Position { line: entry.line.saturating_sub(before), ..entry };
            let found = embedded_place::place(source, inside, &value, line, column)?;
            Some(Position { line: found.line.saturating_add(before), ..found })
        };
        within().unwrap_or(entry)
    }

    /// The JSON text of the node at an RFC 6901 pointer, if it exists.
    #[must_use]
    pub fn get(&self, pointer: &str) -> Option<&RawValue> {
        serde_json::from_str(self.text_of((self.json.get(), ""), pointer)?).ok()
    }

    fn text_of(&self, part: (&str, &str), pointer: &str) -> Option<&str> {
        let found = json_pointer::resolve(self.json.get(), self.start(part), pointer);
        if found.exact { self.json.get().get(found.start..found.end) } else { None }
    }
}
