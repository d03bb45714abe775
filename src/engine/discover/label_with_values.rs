//! A label of a node selector.

use super::node_as_shown::Node;
use std::collections::BTreeSet;

/// A label with the values of the nodes; without values, one that no node of the fabric has.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Label {
    pub(super) key: String,
    pub(super) values: BTreeSet<String>,
}

impl Label {
    pub(super) fn node_has_label(&self, node: &Node) -> bool {
        if self.values.is_empty() {
            return !node.labels.contains_key(&self.key);
        }
        node.label(&self.key).is_some_and(|value| self.values.contains(value))
    }

    pub(super) fn values(&self) -> Vec<&str> {
        self.values.iter().map(String::as_str).collect()
    }
}
