//! Counts over a whole group of nodes. One node may be wrong at any moment: a device plugin that restarts reports 0, and
//! a device that failed is missing.

use super::node_as_shown::Node;
use std::collections::BTreeMap;

/// A number on which most nodes of a group agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Count {
    /// The number of most nodes; 0 if no node has any.
    pub(super) units: u64,
    /// Nodes with this number.
    with: usize,
    /// Nodes that should have it: those that serve, and all that have any.
    of: usize,
    /// Other numbers above 0, each with its nodes.
    others: BTreeMap<u64, usize>,
}

impl Count {
    pub(super) fn count_units_over_nodes(nodes: &[&Node], units: impl Fn(&Node) -> u64) -> Self {
        let mut all: BTreeMap<u64, usize> = BTreeMap::new();
        let mut of = 0;
        for node in nodes {
            let number = units(node);
            // A node that is drained or away may list nothing, and proves nothing.
            if number > 0 || node.serves {
                of += 1;
            }
            if number > 0 {
                *all.entry(number).or_default() += 1;
            }
        }
        // Of equally many, the larger number: a smaller one is what is left of it.
        let most = all.iter().max_by_key(|(number, nodes)| (**nodes, **number));
        let (units, with) = most.map_or((0, 0), |(number, nodes)| (*number, *nodes));
        all.remove(&units);
        Self { units, with, of, others: all }
    }

    /// Whether more than half of the nodes agree.
    pub(super) fn do_most_nodes_agree(&self) -> bool {
        self.with * 2 > self.of
    }

    /// The nodes in words: `all 8 nodes`, or `7 of 8 nodes`.
    pub(super) fn nodes(&self) -> String {
        match (self.with, self.of) {
            (1, 1) => "the only node".to_owned(),
            (2, 2) => "both nodes".to_owned(),
            (with, of) if with == of => format!("all {of} nodes"),
            (with, of) => format!("{with} of {of} nodes"),
        }
    }

    /// The numbers in words, where nodes disagree.
    pub(super) fn disagreement(&self) -> String {
        let mut numbers = vec![format!("{} on {}", self.units, self.nodes())];
        numbers.extend(self.others.iter().map(|(number, nodes)| format!("{number} on {nodes}")));
        numbers.join(", ")
    }
}
