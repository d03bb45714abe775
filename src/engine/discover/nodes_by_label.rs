//! Nodes by the labels that somebody asks for. Few labels of a node select it, and a cluster may have 130,000 nodes.

use super::node_as_shown::Node;
use std::collections::{BTreeMap, BTreeSet};

/// Positions of nodes in a list, by label and value.
#[derive(Debug, Default)]
pub(super) struct NodesByLabel<'a>(BTreeMap<&'a str, BTreeMap<&'a str, Vec<usize>>>);

impl<'a> NodesByLabel<'a> {
    /// The nodes that have any of these labels.
    pub(super) fn new(nodes: &[&'a Node], keys: &BTreeSet<&str>) -> Self {
        let mut found = Self::default();
        for (at, node) in nodes.iter().enumerate() {
            // The shorter list is gone through: the labels of the node, or those that are asked for.
            if keys.len() < node.labels.len() {
                let asked = keys.iter().filter_map(|key| node.labels.get_key_value(*key));
                asked.for_each(|label| found.add_node_with_label(label, at));
            } else {
                let asked = node.labels.iter().filter(|(key, _)| keys.contains(key.as_str()));
                asked.for_each(|label| found.add_node_with_label(label, at));
            }
        }
        found
    }

    fn add_node_with_label(&mut self, (key, value): (&'a String, &'a String), at: usize) {
        self.0.entry(key).or_default().entry(value).or_default().push(at);
    }

    fn lists<'s>(&'s self, key: &str, values: &'s [&str]) -> impl Iterator<Item = &'s Vec<usize>> + 's {
        let of = self.0.get(key);
        values.iter().filter_map(move |value| of?.get(*value))
    }

    /// The nodes with one of the values, value by value.
    pub(super) fn nodes_with_label(&self, key: &str, values: &[&str]) -> Vec<usize> {
        self.lists(key, values).flatten().copied().collect()
    }

    /// How many nodes have one of the values.
    pub(super) fn count_nodes_with_label(&self, key: &str, values: &[&str]) -> usize {
        self.lists(key, values).map(Vec::len).sum()
    }
}
