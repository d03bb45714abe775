//! Documents of a stream, and the positions of their nodes.

use super::input_error::InputError;
use super::json_pointer::Found;
use super::source_positions::{Position, Positions};
use super::{follow_many_pointers, json_pointer, position_inside_string_value};
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
    /// Keys given twice, in the order of their mappings; the last one wins, as in kubectl.
    pub warnings: Vec<DuplicateKey>,
    pub(super) positions: Positions,
    /// Values that YAML aliases repeat: the offset of each copy in the JSON, and where the file has the value.
    pub(super) shared: Vec<(u32, Position)>,
}

/// A part of a document, such as an item of a List or a template in it. The default is the whole document.
#[derive(Clone, Copy, Debug, Default)]
pub struct Part<'p> {
    /// Where a node starts in [`Document::json`] (bytes).
    pub start: usize,
    /// RFC 6901 pointer from this node to the part.
    pub pointer: &'p str,
}

/// A mapping key that is written twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuplicateKey {
    /// Where the mapping starts in [`Document::json`] (bytes). Its pointer would repeat long keys above it in each entry.
    pub mapping: usize,
    /// The key, unescaped.
    pub key: String,
    /// Position of its first occurrence, whose value is lost.
    pub first: Position,
    /// Position of its second occurrence.
    pub second: Position,
}

/// One item of a file, in the order of the file.
#[derive(Debug)]
pub enum DocumentOrError {
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
    pub fn position_at_or_above_pointer(&self, pointer: &str) -> Position {
        self.position_in_part_at_or_above(Part::default(), pointer)
    }

    /// The same below a part of the document: linear in the size of the part.
    #[must_use]
    pub fn position_in_part_at_or_above(&self, part: Part<'_>, pointer: &str) -> Position {
        self.position(&self.resolve(part, pointer))
    }

    /// The same for many pointers, in one pass over the part.
    #[must_use]
    pub fn positions_in_part_at_or_above(&self, part: Part<'_>, pointers: &[&str]) -> Vec<Position> {
        self.resolve_all(part, pointers).iter().map(|found| self.position(found)).collect()
    }

    /// Whether YAML aliases repeat values of the document.
    #[must_use]
    pub fn has_aliases(&self) -> bool {
        !self.shared.is_empty()
    }

    /// Where the file has the nodes at some pointers below a part, or their nearest ancestors that exist, and whether it is the
    /// node itself: the same place for all copies that YAML aliases make of it. `None` where the place is not known. One pass
    /// over the part.
    #[must_use]
    pub fn source_positions_of_copies(
        &self,
        part: Part<'_>,
        pointers: &[&str],
    ) -> Vec<Option<(Position, bool)>> {
        let source = |found: &Found| {
            let offset = u32::try_from(found.start).ok()?;
            let copy = self.shared.binary_search_by_key(&offset, |(offset, _)| *offset).ok();
            let copy = copy.and_then(|at| self.shared.get(at)).map(|(_, position)| *position);
            Some((copy.or_else(|| self.positions.at(found.start))?, found.exact))
        };
        self.resolve_all(part, pointers).iter().map(source).collect()
    }

    /// Where a text is in the JSON text; `None` for a copy.
    #[must_use]
    pub fn range_of_text_in_json(&self, text: &str) -> Option<Range<usize>> {
        let (whole, text) = (self.json.get().as_bytes().as_ptr_range(), text.as_bytes().as_ptr_range());
        let offset = |at: *const u8| at.addr() - whole.start.addr();
        (whole.start <= text.start && text.end <= whole.end).then(|| offset(text.start)..offset(text.end))
    }

    /// Position of a character of the string at a pointer below a part, by its line and column in the string, both from 1;
    /// of the string itself if that cannot be found. `lines_from` gives the source of the document from a line of its file on.
    #[must_use]
    pub fn position_inside_string<'s>(
        &self,
        lines_from: impl FnOnce(u32) -> Option<&'s [u8]>,
        part: Part<'_>,
        pointer: &str,
        spot: (u32, u32),
    ) -> Position {
        let found = self.resolve(part, pointer);
        let entry = self.position(&found);
        let within = || {
            let mut cursor = position_inside_string_value::Cursor::at(lines_from(entry.line)?, entry)?;
            let text = self.text_of(&found)?;
            cursor.place_in_source(&serde_json::from_str::<String>(text).ok()?, spot)
        };
        within().unwrap_or(entry)
    }

    /// The JSON text of the node at an RFC 6901 pointer, if it exists.
    #[must_use]
    pub fn json_at_pointer(&self, pointer: &str) -> Option<&RawValue> {
        serde_json::from_str(self.text_of(&self.resolve(Part::default(), pointer))?).ok()
    }

    /// Follows a pointer below a part. Never from the start of the document: a List has as many parts as findings.
    fn resolve(&self, part: Part<'_>, pointer: &str) -> Found {
        let found =
            json_pointer::follow_pointer_as_far_as_possible(self.json.get(), part.start, part.pointer);
        if found.exact {
            json_pointer::follow_pointer_as_far_as_possible(self.json.get(), found.start, pointer)
        } else {
            found
        }
    }

    /// Follows many pointers below a part.
    fn resolve_all(&self, part: Part<'_>, pointers: &[&str]) -> Vec<Found> {
        let json = self.json.get();
        let found = json_pointer::follow_pointer_as_far_as_possible(json, part.start, part.pointer);
        if found.exact && !pointers.is_empty() {
            follow_many_pointers::follow_pointers_as_far_as_possible(json, found.start, pointers)
        } else {
            vec![found; pointers.len()]
        }
    }

    /// The keys that a part gives twice: the first `most` of them, each with its RFC 6901 pointer from the start of the part,
    /// and the number of all. Keys within the bytes `without` are left out, because the items of a list are objects of their
    /// own. The text of the part is read twice, whether it has one such key or a thousand.
    #[must_use]
    pub fn repeated_keys_in(
        &self,
        part: Part<'_>,
        without: &Range<usize>,
        most: usize,
    ) -> (Vec<(String, &DuplicateKey)>, usize) {
        if self.warnings.is_empty() {
            return (Vec::new(), 0);
        }
        let start = self.resolve(part, "").start;
        let end = json_pointer::end_of_value(self.json.get(), start);
        let between = |from: usize, to: usize| {
            let before = |offset: usize| self.warnings.partition_point(|twice| twice.mapping < offset);
            self.warnings.get(before(from)..before(to)).unwrap_or_default()
        };
        let (ahead, behind) = match without.is_empty() {
            true => (between(start, end), &[][..]),
            false => (between(start, without.start), between(without.end, end)),
        };
        let first = ahead.iter().chain(behind).take(most);
        let mappings =
            json_pointer::pointers_to_bytes(self.json.get(), start, first.clone().map(|twice| twice.mapping));
        let with_key = |(mapping, twice): (String, &DuplicateKey)| {
            format!("{mapping}/{}", json_pointer::escape(&twice.key))
        };
        let pointers: Vec<String> = mappings.into_iter().zip(first.clone()).map(with_key).collect();
        (pointers.into_iter().zip(first).collect(), ahead.len() + behind.len())
    }

    fn position(&self, found: &Found) -> Position {
        self.positions.at(found.start).unwrap_or(Position { line: self.line, column: 1 })
    }

    fn text_of(&self, found: &Found) -> Option<&str> {
        let end = || json_pointer::end_of_value(self.json.get(), found.start);
        if found.exact { self.json.get().get(found.start..end()) } else { None }
    }
}
