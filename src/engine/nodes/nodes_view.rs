//! The immutable view of all nodes for one decision.

use super::HOSTNAME_LABEL;
use super::node_classes::{ClassSet, NodeClass, NodeClasses};
use super::resource_amounts::{AmountsOfAllNodes, ListNumber};
use super::sharded_map::Shards;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// A node: its class, and the labels that are its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NodeEntry {
    /// Number of its class: four bytes, as there is an entry for every node.
    class: u32,
    /// Its units of extended resources, by the number of the list.
    pub(super) amounts: ListNumber,
    /// Whether its label `kubernetes.io/hostname` is its name, as on nearly every node.
    pub(super) named: bool,
    /// Labels whose value differs on every node, by key.
    pub(super) own: Box<[(Arc<str>, Box<str>)]>,
}

impl NodeEntry {
    pub(super) fn new(
        class: usize,
        amounts: ListNumber,
        named: bool,
        own: Vec<(Arc<str>, Box<str>)>,
    ) -> Self {
        // No cluster has four billion classes; such a number would name none.
        let class = u32::try_from(class).unwrap_or(u32::MAX);
        Self { class, amounts, named, own: own.into_boxed_slice() }
    }

    /// Number of its class.
    pub(super) fn class(&self) -> usize {
        usize::try_from(self.class).unwrap_or(usize::MAX)
    }

    /// Value of a label that is not part of the class.
    pub(super) fn label_outside_class<'a>(&'a self, name: &'a str, key: &str) -> Option<&'a str> {
        if self.named && key == HOSTNAME_LABEL {
            return Some(name);
        }
        self.own.iter().find(|(k, _)| **k == *key).map(|(_, value)| &**value)
    }
}

/// Nodes with the number of their class.
type Firsts = Vec<(Box<str>, usize)>;

/// All nodes, as classes and by name. Cheap to copy.
#[derive(Debug, Clone, Default)]
pub struct NodeView {
    pub(super) classes: Arc<NodeClasses>,
    /// Nodes of each class (count).
    pub(super) counts: Vec<usize>,
    pub(super) nodes: Shards<NodeEntry>,
    pub(super) amounts: Arc<AmountsOfAllNodes>,
    /// Names of the nodes behind `key\0value` of a label that is not part of the classes.
    pub(super) values: Shards<Vec<Arc<str>>>,
    /// The labels that are not part of the classes, and how many nodes of each class have them.
    pub(super) own_keys: BTreeMap<Arc<str>, Vec<usize>>,
    /// The first node by name of each class, in order of names; made at the first question.
    pub(super) firsts: Arc<OnceLock<Firsts>>,
}

impl NodeView {
    /// Whether any node is known. If not, the nodes that a pod runs on are unknown.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.len() == 0
    }

    /// Whether another view has the same classes, by number.
    #[must_use]
    pub fn shares_classes_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.classes, &other.classes)
    }

    /// Nodes (count).
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The classes.
    #[must_use]
    pub fn classes(&self) -> &NodeClasses {
        &self.classes
    }

    /// Number of a node's class.
    #[must_use]
    pub fn class_number_of_node(&self, node: &str) -> Option<usize> {
        self.nodes.get(node).map(|entry| entry.class())
    }

    /// The first node by name of a set of classes. All nodes are visited once for a view, not at each question.
    pub(super) fn first_node_of_classes(&self, set: &ClassSet) -> Option<&str> {
        let firsts = self.firsts.get_or_init(|| {
            let mut first: BTreeMap<usize, &str> = BTreeMap::new();
            for (name, entry) in self.nodes.iter() {
                first.entry(entry.class()).and_modify(|first| *first = name.min(*first)).or_insert(name);
            }
            let mut firsts: Firsts = first.into_iter().map(|(class, name)| (name.into(), class)).collect();
            firsts.sort_unstable();
            firsts
        });
        firsts.iter().find(|(_, class)| set.contains(*class)).map(|(name, _)| &**name)
    }

    /// Whether any node may have a label; a node with more labels than are kept may have any.
    #[must_use]
    pub fn may_have_label(&self, key: &str) -> bool {
        self.classes.has_label_key(key)
            || self.own_keys.contains_key(key)
            || self.classes.has_nodes_with_more_labels()
    }

    /// Whether any node may have a label with this value; a label that differs on every node may have any, and so may a node with
    /// more labels than are kept.
    #[must_use]
    pub fn may_have_label_value(&self, key: &str, value: &str) -> bool {
        self.own_keys.contains_key(key)
            || self.classes.has_value(key, value)
            || self.classes.has_nodes_with_more_labels()
    }

    /// Keys of the labels that nodes have, in no order.
    pub fn label_keys(&self) -> impl Iterator<Item = &str> {
        self.classes.label_keys().chain(self.own_keys.keys().map(|key| &**key))
    }

    /// Values of a label that several nodes may share.
    pub fn shared_label_values(&self, key: &str) -> impl Iterator<Item = &str> {
        self.classes.label_values(key)
    }

    /// The classes of a set, with their number of nodes.
    pub fn classes_with_node_counts<'a>(
        &'a self,
        set: &'a ClassSet,
    ) -> impl Iterator<Item = (usize, &'a NodeClass, usize)> {
        set.ones().filter_map(|n| Some((n, self.classes.get(n)?, self.counts.get(n).copied().unwrap_or(0))))
    }

    /// Units of an extended resource on the node of a set of classes that lists most of them. `None` if none lists
    /// it, or if a node may have more than is known.
    #[must_use]
    pub fn most_units(&self, set: &ClassSet, resource: &str) -> Option<u64> {
        self.amounts.most_units_in_classes(set, resource)
    }

    /// Nodes in a set of classes (count).
    #[must_use]
    pub fn count_nodes_of_classes(&self, set: &ClassSet) -> usize {
        set.ones().filter_map(|n| self.counts.get(n)).sum()
    }

    /// Names of nodes of a set of classes, in order, at most `most`.
    #[must_use]
    pub fn first_node_names_of_classes(&self, set: &ClassSet, most: usize) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.nodes.iter().filter(|(_, e)| set.contains(e.class())).map(|(name, _)| name).collect();
        names.sort_unstable();
        names.truncate(most);
        names
    }
}

/// Key of the index of labels that are not part of the classes. No label key holds a NUL.
pub(super) fn index_key_of_label_value(key: &str, value: &str) -> String {
    format!("{key}\0{value}")
}

/// Views are equal when the same nodes have the same properties; the numbers of classes do not count.
impl PartialEq for NodeView {
    fn eq(&self, other: &Self) -> bool {
        let labels = |view: &Self, name: &str, entry: &NodeEntry| {
            let class = view.classes.get(entry.class())?;
            let mut labels: Vec<(String, String)> =
                class.labels.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
            labels.extend(entry.own.iter().map(|(k, v)| (k.to_string(), v.to_string())));
            if entry.named {
                labels.push((HOSTNAME_LABEL.to_owned(), name.to_owned()));
            }
            labels.sort();
            let amounts = view.amounts.list(entry.amounts).to_vec();
            Some((labels, class.has_more_labels, class.taints.clone(), class.resources.clone(), amounts))
        };
        self.len() == other.len()
            && self.nodes.iter().all(|(name, entry)| {
                other.nodes.get(name).is_some_and(|o| labels(self, name, entry) == labels(other, name, o))
            })
    }
}

impl Eq for NodeView {}
