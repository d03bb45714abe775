//! The node tree between a source text and JSON.

use super::source_positions::Position;
use std::collections::HashSet;

/// How deeply mappings and sequences may nest, aliases expanded.
///
/// Real objects stay below 50 (a CustomResourceDefinition with a deep schema); the limit keeps every walk
/// over a document within a small stack.
pub(super) const MAX_DEPTH: usize = 100;

/// How many nodes a document may have. A List of 5,000 nodes with everything that a kubelet writes has about three
/// million; eight million take about a gigabyte while they are read.
pub(super) const MAX_NODES: u32 = 8 << 20;

/// Index of a node in its tree.
pub(super) type Id = u32;

/// No node: the end of a list of siblings.
pub(super) const NO_NODE: Id = Id::MAX;

/// All nodes of one document, in one allocation.
#[derive(Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
}

/// A node; children form a list through `next`.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: NodeKind,
    pub(super) at: Position,
    pub(super) next: Id,
}

/// The type of a node.
#[derive(Debug)]
pub(super) enum NodeKind {
    Null,
    Bool(bool),
    Int(i64),
    /// An integer above the range of `i64`, which go-yaml distinguishes from floats.
    Uint(u64),
    Float(f64),
    Str(String),
    /// The plain scalar `<<`: a merge as a key, a string anywhere else.
    Merge,
    /// First item.
    Sequence(Id),
    /// First key; keys and values alternate.
    Mapping(Id),
    /// The node of the anchor.
    Alias(Id),
}

impl Tree {
    /// Adds a node; `None` when the tree has [`MAX_NODES`].
    pub(super) fn push(&mut self, kind: NodeKind, at: Position) -> Option<Id> {
        let id = Id::try_from(self.nodes.len()).ok().filter(|id| *id < MAX_NODES)?;
        self.nodes.push(Node { kind, at, next: NO_NODE });
        Some(id)
    }

    /// The nodes that aliases stand for.
    pub(super) fn alias_targets(&self) -> HashSet<Id> {
        let aliases = self.nodes.iter();
        aliases
            .filter_map(|node| if let NodeKind::Alias(target) = node.kind { Some(target) } else { None })
            .collect()
    }

    pub(super) fn get(&self, id: Id) -> Option<&Node> {
        self.nodes.get(usize::try_from(id).ok()?)
    }

    /// Appends `child` to the children of `parent`, whose last child so far is `last`.
    pub(super) fn append_child(&mut self, parent: Id, last: Id, child: Id) {
        let owner = if last == NO_NODE { parent } else { last };
        if let Some(node) = usize::try_from(owner).ok().and_then(|at| self.nodes.get_mut(at)) {
            if last != NO_NODE {
                node.next = child;
            } else if let NodeKind::Sequence(first) | NodeKind::Mapping(first) = &mut node.kind {
                *first = child;
            }
        }
    }
}
