//! Which nodes with accelerators have a label, two labels, or many. Fabrics of one cluster have mostly the same labels, so
//! each question is answered once for all of them: a cluster may have one fabric for each of its nodes.

use super::label_with_values::Label;
use super::node_as_shown::Node;
use super::nodes_by_label::NodesByLabel;
use std::collections::{BTreeMap, BTreeSet};

/// Looks at nodes and their labels per label of the cluster. Ordinary clusters take fewer than one per label; only clusters
/// in which each fabric has labels of its own, and none that separates it, take more.
const LOOKS_PER_LABEL: usize = 64;
/// Looks in a small cluster.
const LEAST_LOOKS: usize = 1_000_000;
/// Most owners of which first nodes are kept: without any one of them, the first two nodes are still there.
const OWNERS: usize = 3;
/// Most nodes of an owner that are kept.
const NODES_OF_OWNER: usize = 2;

/// The fabrics have more labels than are compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct TooManyLooks;

/// Nodes that have the same labels: how many, and the first ones of some fabrics.
#[derive(Debug, Default)]
pub(super) struct Alike<'a> {
    pub(super) count: usize,
    /// In their order, each with its fabric.
    first: Vec<(&'a Node, Option<usize>)>,
}

impl<'a> Alike<'a> {
    fn add(&mut self, node: &'a Node, owner: Option<usize>) {
        self.count += 1;
        let same = self.first.iter().filter(|(_, other)| *other == owner).count();
        let owners: BTreeSet<Option<usize>> = self.first.iter().map(|(_, other)| *other).collect();
        if same < NODES_OF_OWNER && (same > 0 || owners.len() < OWNERS) {
            self.first.push((node, owner));
        }
    }

    /// Whether nodes of two fabrics are known, so that each fabric has one outside.
    fn are_of_two_owners(&self) -> bool {
        let mut owners = self.first.iter().map(|(_, owner)| *owner);
        let first = owners.next();
        // Nodes whose fabric is unknown are outside of every fabric.
        first == Some(None) || owners.any(|owner| Some(owner) != first)
    }

    /// The first nodes outside of a fabric.
    pub(super) fn outside(&self, at: usize) -> impl Iterator<Item = &'a Node> + '_ {
        self.first.iter().filter(move |(_, owner)| *owner != Some(at)).map(|(node, _)| *node)
    }
}

/// Keys of other labels, by the number of nodes that have them.
type KeysByCount<'a> = BTreeMap<usize, Vec<&'a str>>;

/// The nodes with accelerators, by the labels that could select a fabric. A label is its place in the list of all labels.
pub(super) struct NodesWithLabels<'a> {
    labels: Vec<Label>,
    /// All nodes with accelerators, each with its fabric; those first whose fabric is unknown.
    nodes: Vec<(&'a Node, Option<usize>)>,
    by_label: NodesByLabel<'a>,
    /// Nodes without accelerators.
    bare: NodesByLabel<'a>,
    looks_left: usize,
    with_both: BTreeMap<(usize, usize), Alike<'a>>,
    with_all: BTreeMap<Vec<usize>, Alike<'a>>,
    other_labels: BTreeMap<usize, (Alike<'a>, KeysByCount<'a>)>,
}

impl<'a> NodesWithLabels<'a> {
    pub(super) fn new(nodes: Vec<(&'a Node, Option<usize>)>, labels: Vec<Label>, bare: &[&'a Node]) -> Self {
        let keys: BTreeSet<&str> = labels.iter().map(|label| label.key.as_str()).collect();
        let all: Vec<&Node> = nodes.iter().map(|(node, _)| *node).collect();
        let (by_label, bare) = (NodesByLabel::new(&all, &keys), NodesByLabel::new(bare, &keys));
        let in_cluster: usize = all.iter().map(|node| node.labels.len()).sum();
        let looks_left = in_cluster.saturating_mul(LOOKS_PER_LABEL).saturating_add(LEAST_LOOKS);
        drop(keys);
        Self {
            labels,
            nodes,
            by_label,
            bare,
            looks_left,
            with_both: BTreeMap::new(),
            with_all: BTreeMap::new(),
            other_labels: BTreeMap::new(),
        }
    }

    /// Labels as a selector has them.
    pub(super) fn copies_of_labels(&self, labels: &[usize]) -> Vec<Label> {
        labels.iter().filter_map(|label| self.labels.get(*label).cloned()).collect()
    }

    /// How many nodes have a label.
    pub(super) fn count_with_label(&self, label: usize) -> usize {
        let label = self.labels.get(label);
        label.map_or(0, |label| self.by_label.count_nodes_with_label(&label.key, &label.values()))
    }

    /// Whether a node without accelerators has a label.
    pub(super) fn do_bare_nodes_have(&self, label: usize) -> bool {
        let label = self.labels.get(label);
        label.is_some_and(|label| self.bare.count_nodes_with_label(&label.key, &label.values()) > 0)
    }

    /// The nodes that have a label, in their order.
    fn nodes_with_label(&self, label: usize) -> Vec<(&'a Node, Option<usize>)> {
        let Some(label) = self.labels.get(label) else { return Vec::new() };
        let mut found = self.by_label.nodes_with_label(&label.key, &label.values());
        found.sort_unstable();
        found.into_iter().filter_map(|position| self.nodes.get(position)).copied().collect()
    }

    fn look(&mut self, looks: usize) -> Result<(), TooManyLooks> {
        self.looks_left = self.looks_left.checked_sub(looks).ok_or(TooManyLooks)?;
        Ok(())
    }

    /// Nodes that have two labels, as far as they show whether there are nodes outside of each fabric.
    pub(super) fn nodes_with_both(
        &mut self,
        first: usize,
        second: usize,
    ) -> Result<&Alike<'a>, TooManyLooks> {
        let pair = (first.min(second), first.max(second));
        if !self.with_both.contains_key(&pair) {
            let (rarer, other) = if self.count_with_label(first) <= self.count_with_label(second) {
                (first, second)
            } else {
                (second, first)
            };
            let nodes = self.nodes_with_label(rarer);
            self.look(nodes.len())?;
            let mut alike = Alike::default();
            if let Some(other) = self.labels.get(other) {
                for (node, owner) in nodes.into_iter().filter(|(node, _)| other.node_has_label(node)) {
                    alike.add(node, owner);
                    if alike.are_of_two_owners() {
                        break;
                    }
                }
            }
            self.with_both.insert(pair, alike);
        }
        self.with_both.get(&pair).ok_or(TooManyLooks)
    }

    /// The nodes that have every label of a list. Without labels, these are all nodes.
    pub(super) fn nodes_with_all(&mut self, labels: &[usize]) -> Result<&Alike<'a>, TooManyLooks> {
        if !self.with_all.contains_key(labels) {
            let rarest = labels.iter().min_by_key(|label| self.count_with_label(**label));
            let nodes = rarest.map_or_else(|| self.nodes.clone(), |label| self.nodes_with_label(*label));
            self.look(nodes.len().saturating_mul(labels.len().max(1)))?;
            let mut alike = Alike::default();
            let wanted: Vec<&Label> = labels.iter().filter_map(|label| self.labels.get(*label)).collect();
            for (node, owner) in nodes {
                if wanted.iter().all(|label| label.node_has_label(node)) {
                    alike.add(node, owner);
                }
            }
            self.with_all.insert(labels.to_vec(), alike);
        }
        self.with_all.get(labels).ok_or(TooManyLooks)
    }

    /// The nodes that have a label, and the keys of all labels of these nodes.
    pub(super) fn other_labels_of_nodes_with(
        &mut self,
        label: usize,
    ) -> Result<&(Alike<'a>, KeysByCount<'a>), TooManyLooks> {
        if !self.other_labels.contains_key(&label) {
            let nodes = self.nodes_with_label(label);
            self.look(nodes.iter().map(|(node, _)| node.labels.len()).sum())?;
            let mut alike = Alike::default();
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            for (node, owner) in nodes {
                alike.add(node, owner);
                let keys = node.labels.iter().filter(|(_, value)| !value.is_empty());
                keys.for_each(|(key, _)| *counts.entry(key).or_default() += 1);
            }
            let mut keys_by_count = KeysByCount::new();
            for (key, count) in counts {
                keys_by_count.entry(count).or_default().push(key);
            }
            self.other_labels.insert(label, (alike, keys_by_count));
        }
        self.other_labels.get(&label).ok_or(TooManyLooks)
    }
}
