//! A node tree to compact JSON, with the position of every node.

use super::document::Duplicate;
use super::go_numbers;
use super::merge_keys::{Budget, Entries, MappingEntry, Origin, Repeated, too_deep, too_many};
use super::node_tree::{Id, Kind, MAX_DEPTH, Tree};
use super::read_fault::ReadFault;
use super::source_positions::{Position, Positions, Recorder};
use std::collections::HashSet;

/// Most text that aliases may add: a document of a few kilobytes must not fill the memory by naming one long string
/// over and over.
const ALIAS_BYTES: usize = 32 << 20;

/// The JSON of a document.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) json: String,
    pub(super) positions: Positions,
    pub(super) duplicates: Vec<Duplicate>,
    pub(super) shared: Vec<(u32, Position)>,
}

/// Writes the tree below `root`. `hint` is about how long the text will be.
pub(super) fn write(tree: &Tree, root: Id, hint: usize) -> Result<Written, ReadFault> {
    let mut writer = Writer {
        tree,
        out: String::with_capacity(hint),
        positions: Recorder::default(),
        duplicates: Vec::new(),
        anchored: tree.anchored(),
        shared: Vec::new(),
        budget: Budget::default(),
        spare: Vec::new(),
        alias_bytes: 0,
    };
    // go-yaml counts the document as well.
    writer.budget.count(false);
    let at = tree.get(root).map_or(Position { line: 1, column: 1 }, |node| node.at);
    writer.value(root, at, false, 0)?;
    let Writer { out: json, positions, duplicates, shared, .. } = writer;
    Ok(Written { json, positions: positions.finish(), duplicates, shared })
}

struct Writer<'t> {
    tree: &'t Tree,
    out: String,
    positions: Recorder,
    duplicates: Vec<Duplicate>,
    anchored: HashSet<Id>,
    /// Values that aliases repeat: the offset of each copy, and where the file has the value.
    shared: Vec<(u32, Position)>,
    budget: Budget,
    /// Emptied entry lists, to be filled again.
    spare: Vec<Vec<MappingEntry<'t>>>,
    alias_bytes: usize,
}

impl<'t> Writer<'t> {
    fn value(&mut self, id: Id, at: Position, aliased: bool, depth: usize) -> Result<(), ReadFault> {
        let Some(node) = self.tree.get(id) else { return Ok(()) };
        if !self.budget.count(aliased) {
            return Err(too_many(node.at));
        }
        if let Kind::Alias(target) = node.kind {
            return self.value(target, at, true, depth);
        }
        let offset = u32::try_from(self.out.len()).map_err(|_| ReadFault {
            at: node.at,
            message: "the document is larger than 4 GiB".to_owned(),
        })?;
        self.positions.push(offset, at);
        if !self.anchored.is_empty() && self.anchored.contains(&id) {
            self.shared.push((offset, node.at));
        }
        match &node.kind {
            Kind::Null => self.out.push_str("null"),
            Kind::Bool(true) => self.out.push_str("true"),
            Kind::Bool(false) => self.out.push_str("false"),
            Kind::Int(value) => write_integer(&mut self.out, *value),
            // The reader after go-yaml takes an integer beyond int64 as a float.
            Kind::Uint(value) => go_numbers::write_float(&mut self.out, *value as f64),
            Kind::Float(value) if value.is_finite() => go_numbers::write_float(&mut self.out, *value),
            Kind::Float(_) => {
                let message = "the value is not a finite number: quote the value if it is a string";
                return Err(ReadFault { at: node.at, message: message.to_owned() });
            }
            Kind::Str(text) => {
                self.charge(text, aliased, node.at)?;
                write_string(&mut self.out, text);
            }
            Kind::Merge => self.out.push_str("\"<<\""),
            Kind::Sequence(_) | Kind::Mapping(_) if depth >= MAX_DEPTH => return Err(too_deep(node.at)),
            Kind::Sequence(first) => self.sequence(*first, aliased, depth + 1)?,
            Kind::Mapping(first) => self.mapping(*first, aliased, depth + 1)?,
            Kind::Alias(_) => {}
        }
        Ok(())
    }

    fn sequence(&mut self, first: Id, aliased: bool, depth: usize) -> Result<(), ReadFault> {
        self.out.push('[');
        let start = self.out.len();
        let mut next = first;
        while let Some(item) = self.tree.get(next) {
            if self.out.len() > start {
                self.out.push(',');
            }
            self.value(next, item.at, aliased, depth)?;
            next = item.next;
        }
        self.out.push(']');
        Ok(())
    }

    fn mapping(&mut self, first: Id, aliased: bool, depth: usize) -> Result<(), ReadFault> {
        let list = self.spare.pop().unwrap_or_default();
        let mut entries = Entries::new(self.tree, &mut self.budget, list);
        entries.mapping(first, Origin { aliased, merged: false }, depth)?;
        let (mut list, repeated) = (entries.list, entries.repeated);
        // Expanded again, the same mapping would be reported again.
        if !aliased {
            let mapping = self.out.len();
            let duplicate = |(key, first, second): Repeated<'t>| Duplicate {
                mapping,
                key: key.into_owned(),
                first,
                second,
            };
            self.duplicates.extend(repeated.into_iter().map(duplicate));
        }
        self.out.push('{');
        let start = self.out.len();
        for entry in list.drain(..) {
            if self.out.len() > start {
                self.out.push(',');
            }
            self.charge(&entry.key, entry.aliased, entry.at)?;
            write_string(&mut self.out, &entry.key);
            self.out.push(':');
            self.value(entry.value, entry.at, entry.aliased, depth)?;
        }
        self.out.push('}');
        self.spare.push(list);
        Ok(())
    }

    fn charge(&mut self, text: &str, aliased: bool, at: Position) -> Result<(), ReadFault> {
        if aliased {
            self.alias_bytes = self.alias_bytes.saturating_add(text.len());
        }
        if self.alias_bytes > ALIAS_BYTES { Err(too_many(at)) } else { Ok(()) }
    }
}

fn write_integer(out: &mut String, value: i64) {
    use std::fmt::Write as _;
    // Writing to a String does not fail.
    let _ = write!(out, "{value}");
}

/// A JSON string. Only what JSON demands is escaped.
fn write_string(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|b| b < 0x20 || b == b'"' || b == b'\\') {
        let (clean, tail) = rest.split_at(at);
        out.push_str(clean);
        let mut chars = tail.chars();
        match chars.next() {
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some('\u{8}') => out.push_str("\\b"),
            Some('\u{c}') => out.push_str("\\f"),
            Some(control) => out.push_str(&format!("\\u{:04x}", u32::from(control))),
            None => {}
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out.push('"');
}
