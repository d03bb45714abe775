//! The entries of one mapping, with merge keys (`<<`) and repeated keys resolved.

use std::borrow::Cow;
use std::collections::HashMap;

use super::go_numbers;
use super::node_tree::{Id, MAX_DEPTH, NO_NODE, Node, NodeKind, Tree};
use super::read_fault::ReadFault;
use super::source_positions::Position;

/// One entry as kubectl sees it.
#[derive(Clone)]
pub(super) struct MappingEntry<'t> {
    pub(super) key: Cow<'t, str>,
    pub(super) at: Position,
    pub(super) value: Id,
    /// The value came through an alias.
    pub(super) aliased: bool,
    merged: bool,
}

/// A key that occurs twice: the key and both places.
pub(super) type RepeatedKey<'t> = (Cow<'t, str>, Position, Position);

/// The work that aliases may cause.
///
/// The same rule as go-yaml's against "billion laughs" documents: up to 99% of the nodes of a small document
/// may come from aliases, down to 10% of a large one. Beside that, the bytes that aliases add have a limit: a short document
/// must not fill the memory by naming one long string over and over.
pub(super) struct AliasBudget {
    all: u64,
    aliased: u64,
    /// Bytes that aliases may still add.
    alias_bytes_left: usize,
}

/// How many times its own length aliases may add to a document, beside a few kilobytes. A real document names a script for
/// some ten pods.
const ALIASES_PER_BYTE: usize = 64;
/// What aliases may add to every document (bytes).
const ALIASES_AT_LEAST: usize = 16 << 10;
/// What aliases may add to the longest document (bytes).
const ALIASES_AT_MOST: usize = 16 << 20;

impl AliasBudget {
    /// The budget of a document of this length (bytes).
    pub(super) fn for_document(length: usize) -> Self {
        let times = length.saturating_mul(ALIASES_PER_BYTE);
        Self {
            all: 0,
            aliased: 0,
            alias_bytes_left: times.saturating_add(ALIASES_AT_LEAST).min(ALIASES_AT_MOST),
        }
    }

    /// Counts bytes that an alias adds; `false` if there are too many.
    pub(super) fn count_and_check_bytes(&mut self, added: usize) -> bool {
        let left = self.alias_bytes_left.checked_sub(added);
        self.alias_bytes_left = left.unwrap_or(0);
        left.is_some()
    }

    /// Counts a node; `false` if there are too many aliases.
    pub(super) fn count_and_check_ratio(&mut self, aliased: bool) -> bool {
        const LOW: u64 = 400_000;
        const HIGH: u64 = 4_000_000;
        self.all += 1;
        if !aliased {
            return true;
        }
        self.aliased += 1;
        if self.aliased <= 100 || self.all <= 1000 {
            return true;
        }
        let share = match self.all {
            ..=LOW => 0.99,
            HIGH.. => 0.10,
            all => 0.99 - 0.89 * ((all - LOW) as f64 / (HIGH - LOW) as f64),
        };
        self.aliased as f64 / self.all as f64 <= share
    }
}

/// Above this many keys they are looked up by hash.
const SMALL: usize = 16;

/// Collects the entries of one mapping.
pub(super) struct EntriesOfMapping<'t, 'b> {
    tree: &'t Tree,
    budget: &'b mut AliasBudget,
    index: HashMap<Cow<'t, str>, usize>,
    pub(super) list: Vec<MappingEntry<'t>>,
    pub(super) repeated: Vec<RepeatedKey<'t>>,
}

impl<'t, 'b> EntriesOfMapping<'t, 'b> {
    pub(super) fn new(tree: &'t Tree, budget: &'b mut AliasBudget, list: Vec<MappingEntry<'t>>) -> Self {
        Self { tree, budget, index: HashMap::new(), list, repeated: Vec::new() }
    }

    /// Adds the entries of a mapping whose first key is `first`, in their order: go-yaml v2 sets them one by
    /// one, so a merge overrides what stands before it and is overridden by what stands after it.
    pub(super) fn add_entries_of_mapping(
        &mut self,
        first: Id,
        from: MappingOrigin,
        depth: usize,
    ) -> Result<(), ReadFault> {
        let mut next = first;
        while let Some(key) = self.tree.get(next) {
            let value = key.next;
            if matches!(key.kind, NodeKind::Merge) {
                self.merge(value, from, depth)?;
            } else {
                self.count_node_or_fail(key, from.aliased)?;
                let text = self.key_text(key, from.aliased)?;
                self.set_or_override_entry(MappingEntry {
                    key: text,
                    at: key.at,
                    value,
                    aliased: from.aliased,
                    merged: from.merged,
                });
            }
            next = self.tree.get(value).map_or(NO_NODE, |node| node.next);
        }
        Ok(())
    }

    fn set_or_override_entry(&mut self, entry: MappingEntry<'t>) {
        let known = if self.list.len() <= SMALL {
            self.list.iter().position(|other| other.key == entry.key)
        } else {
            if self.index.is_empty() {
                self.index.extend(self.list.iter().enumerate().map(|(at, other)| (other.key.clone(), at)));
            }
            self.index.get(&entry.key).copied()
        };
        match known.and_then(|at| self.list.get_mut(at)) {
            Some(other) => {
                if !entry.merged && !other.merged {
                    self.repeated.push((entry.key.clone(), other.at, entry.at));
                }
                *other = entry;
            }
            None => {
                if !self.index.is_empty() {
                    self.index.insert(entry.key.clone(), self.list.len());
                }
                self.list.push(entry);
            }
        }
    }

    /// A merge takes a mapping or a sequence of mappings, each possibly by alias; of a sequence the earlier
    /// ones win, hence backwards.
    fn merge(&mut self, value: Id, from: MappingOrigin, depth: usize) -> Result<(), ReadFault> {
        let Some(node) = self.tree.get(value) else { return Ok(()) };
        if let NodeKind::Sequence(first) = node.kind {
            let mut items = Vec::new();
            let mut next = first;
            while let Some(item) = self.tree.get(next) {
                items.push(item);
                next = item.next;
            }
            for item in items.into_iter().rev() {
                self.merge_mapping(item, from, depth)?;
            }
            return Ok(());
        }
        self.merge_mapping(node, from, depth)
    }

    fn merge_mapping(&mut self, node: &'t Node, from: MappingOrigin, depth: usize) -> Result<(), ReadFault> {
        if depth >= MAX_DEPTH {
            return Err(too_deep(node.at));
        }
        self.count_node_or_fail(node, from.aliased)?;
        let (target, aliased) = match node.kind {
            NodeKind::Alias(target) => (self.tree.get(target), true),
            _ => (Some(node), from.aliased),
        };
        match target.map(|target| &target.kind) {
            Some(NodeKind::Mapping(first)) => {
                if aliased {
                    self.count_node_or_fail(node, true)?;
                }
                self.add_entries_of_mapping(*first, MappingOrigin { aliased, merged: true }, depth + 1)
            }
            _ => Err(ReadFault::new(node.at, "a merge (`<<`) takes a mapping or a list of mappings")),
        }
    }

    /// The text of a key, which sigs.k8s.io/yaml makes a string of.
    fn key_text(&mut self, key: &'t Node, aliased: bool) -> Result<Cow<'t, str>, ReadFault> {
        let (kind, by_alias) = match &key.kind {
            NodeKind::Alias(target) => (self.tree.get(*target).map(|node| &node.kind), true),
            kind => (Some(kind), aliased),
        };
        if by_alias {
            self.count_node_or_fail(key, true)?;
        }
        let wrong = |what: &str| ReadFault::new(key.at, format!("{what} cannot be a key"));
        match kind {
            // Each time a key is named, it is compared with others, and is kept if it is repeated.
            Some(NodeKind::Str(text)) if by_alias && !self.budget.count_and_check_bytes(text.len()) => {
                Err(too_many_aliases(key.at))
            }
            Some(NodeKind::Str(text)) => Ok(Cow::Borrowed(text)),
            Some(NodeKind::Merge) => Ok(Cow::Borrowed("<<")),
            Some(NodeKind::Bool(true)) => Ok(Cow::Borrowed("true")),
            Some(NodeKind::Bool(false)) => Ok(Cow::Borrowed("false")),
            Some(NodeKind::Int(value)) => Ok(Cow::Owned(value.to_string())),
            Some(NodeKind::Float(value)) => Ok(Cow::Owned(go_numbers::write_float_as_key(*value))),
            Some(NodeKind::Uint(_)) => Err(wrong("an integer of this size")),
            Some(NodeKind::Sequence(_)) => Err(wrong("a list")),
            Some(NodeKind::Mapping(_)) => Err(wrong("a mapping")),
            Some(NodeKind::Null | NodeKind::Alias(_)) | None => Err(wrong("null")),
        }
    }

    fn count_node_or_fail(&mut self, node: &Node, aliased: bool) -> Result<(), ReadFault> {
        if self.budget.count_and_check_ratio(aliased) { Ok(()) } else { Err(too_many_aliases(node.at)) }
    }
}

/// How a mapping was reached.
#[derive(Clone, Copy)]
pub(super) struct MappingOrigin {
    /// Through an alias.
    pub(super) aliased: bool,
    /// Through a merge key.
    pub(super) merged: bool,
}

pub(super) fn too_deep(at: Position) -> ReadFault {
    ReadFault::of_our_limit(at, format!("nested more than {MAX_DEPTH} levels deep, aliases expanded"))
}

pub(super) fn too_many_aliases(at: Position) -> ReadFault {
    ReadFault::of_our_limit(at, "the document contains excessive aliasing (`*…`): write the values out")
}

#[cfg(test)]
mod tests;
