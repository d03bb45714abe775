//! A node tree to compact JSON, with the position of every node.

use super::document::DuplicateKey;
use super::go_numbers;
use super::mapping_entries_and_alias_budget::{
    AliasBudget, EntriesOfMapping, MappingEntry, MappingOrigin, RepeatedKey, too_deep, too_many_aliases,
};
use super::node_tree::{Id, MAX_DEPTH, NodeKind, Tree};
use super::read_fault::ReadFault;
use super::source_positions::{Position, Positions, Recorder};
use std::collections::HashSet;

/// What a value takes beside its text (bytes): its position, and its part of the list around it.
const BYTES_OF_VALUE_BESIDE_TEXT: usize = 8;

/// The JSON of a document.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) json: String,
    pub(super) positions: Positions,
    pub(super) duplicates: Vec<DuplicateKey>,
    pub(super) shared: Vec<(u32, Position)>,
}

/// Writes the tree below `root`. `length` is that of the document (bytes).
pub(super) fn write(tree: &Tree, root: Id, length: usize) -> Result<Written, ReadFault> {
    let mut writer = Writer {
        tree,
        out: String::with_capacity(length),
        positions: Recorder::default(),
        duplicates: Vec::new(),
        anchored: tree.alias_targets(),
        shared: Vec::new(),
        budget: AliasBudget::for_document(length),
        spare: Vec::new(),
    };
    // go-yaml counts the document as well.
    writer.budget.count_and_check_ratio(false);
    let at = tree.get(root).map_or(Position { line: 1, column: 1 }, |node| node.at);
    writer.write_value(root, at, false, 0)?;
    let Writer { out: json, positions, duplicates, shared, .. } = writer;
    Ok(Written { json, positions: positions.finish(), duplicates, shared })
}

struct Writer<'t> {
    tree: &'t Tree,
    out: String,
    positions: Recorder,
    duplicates: Vec<DuplicateKey>,
    anchored: HashSet<Id>,
    /// Values that aliases repeat: the offset of each copy, and where the file has the value.
    shared: Vec<(u32, Position)>,
    budget: AliasBudget,
    /// Emptied entry lists, to be filled again.
    spare: Vec<Vec<MappingEntry<'t>>>,
}

impl<'t> Writer<'t> {
    fn write_value(&mut self, id: Id, at: Position, aliased: bool, depth: usize) -> Result<(), ReadFault> {
        let Some(node) = self.tree.get(id) else { return Ok(()) };
        if !self.budget.count_and_check_ratio(aliased) {
            return Err(too_many_aliases(node.at));
        }
        if let NodeKind::Alias(target) = node.kind {
            return self.write_value(target, at, true, depth);
        }
        let offset = u32::try_from(self.out.len())
            .map_err(|_| ReadFault::of_our_limit(node.at, "the document is larger than 4 GiB"))?;
        self.positions.push(offset, at);
        if !self.anchored.is_empty() && self.anchored.contains(&id) {
            self.shared.push((offset, node.at));
        }
        match &node.kind {
            NodeKind::Null => self.out.push_str("null"),
            NodeKind::Bool(true) => self.out.push_str("true"),
            NodeKind::Bool(false) => self.out.push_str("false"),
            NodeKind::Int(value) => write_integer(&mut self.out, *value),
            // The reader after go-yaml takes an integer beyond int64 as a float.
            NodeKind::Uint(value) => go_numbers::write_float(&mut self.out, *value as f64),
            NodeKind::Float(value) if value.is_finite() => go_numbers::write_float(&mut self.out, *value),
            NodeKind::Float(_) => {
                let message = "the value is not a finite number: quote the value if it is a string";
                return Err(ReadFault::new(node.at, message));
            }
            NodeKind::Str(text) => write_string(&mut self.out, text),
            NodeKind::Merge => self.out.push_str("\"<<\""),
            NodeKind::Sequence(_) | NodeKind::Mapping(_) if depth >= MAX_DEPTH => {
                return Err(too_deep(node.at));
            }
            NodeKind::Sequence(first) => self.write_sequence(*first, aliased, depth + 1)?,
            NodeKind::Mapping(first) => self.write_mapping(*first, aliased, depth + 1)?,
            NodeKind::Alias(_) => {}
        }
        match node.kind {
            NodeKind::Sequence(_) | NodeKind::Mapping(_) => {
                self.count_bytes_of_alias(aliased, self.out.len(), node.at)
            }
            _ => self.count_bytes_of_alias(aliased, offset as usize, node.at),
        }
    }

    fn write_sequence(&mut self, first: Id, aliased: bool, depth: usize) -> Result<(), ReadFault> {
        self.out.push('[');
        let start = self.out.len();
        let mut next = first;
        while let Some(item) = self.tree.get(next) {
            if self.out.len() > start {
                self.out.push(',');
            }
            self.write_value(next, item.at, aliased, depth)?;
            next = item.next;
        }
        self.out.push(']');
        Ok(())
    }

    fn write_mapping(&mut self, first: Id, aliased: bool, depth: usize) -> Result<(), ReadFault> {
        let list = self.spare.pop().unwrap_or_default();
        let mut entries = EntriesOfMapping::new(self.tree, &mut self.budget, list);
        entries.add_entries_of_mapping(first, MappingOrigin { aliased, merged: false }, depth)?;
        let (mut list, repeated) = (entries.list, entries.repeated);
        // Expanded again, the same mapping would be reported again.
        if !aliased {
            let mapping = self.out.len();
            let duplicate = |(key, first, second): RepeatedKey<'t>| DuplicateKey {
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
            let before = self.out.len();
            write_string(&mut self.out, &entry.key);
            // The text itself was counted when the key was looked up.
            self.count_bytes_of_alias(entry.aliased, before + entry.key.len(), entry.at)?;
            self.out.push(':');
            self.write_value(entry.value, entry.at, entry.aliased, depth)?;
        }
        self.out.push('}');
        self.spare.push(list);
        Ok(())
    }

    /// Counts a value or a key of an alias, whose JSON begins at `from`.
    fn count_bytes_of_alias(&mut self, aliased: bool, from: usize, at: Position) -> Result<(), ReadFault> {
        let added = self.out.len().saturating_sub(from).saturating_add(BYTES_OF_VALUE_BESIDE_TEXT);
        let fits = !aliased || self.budget.count_and_check_bytes(added);
        if fits { Ok(()) } else { Err(too_many_aliases(at)) }
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
            Some(control) => {
                use std::fmt::Write as _;
                // Writing to a String does not fail.
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            None => {}
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out.push('"');
}
