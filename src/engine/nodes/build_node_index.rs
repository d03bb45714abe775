//! The index of nodes: takes Node objects one by one, and gives a view at any time.

use super::node_classes::{NodeClass, NodeClasses};
use super::node_object::NodeObject;
use super::nodes_view::{NodeEntry, NodeView, index_key_of_label_value};
use super::taints_and_tolerations::Taint;
use super::{HOSTNAME_LABEL, resource_amounts};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// If there are more classes than this, the label with the most values is removed from them: a label that differs on
/// every node would make a class of every node.
const CLASSES_BEFORE_LABEL_IS_REMOVED: usize = 4096;

/// Folds Node objects into classes. The answers of its views depend only on the nodes, not on their order of arrival.
#[derive(Debug, Clone)]
pub struct NodeBuilder {
    view: NodeView,
    slots: Vec<Option<Arc<NodeClass>>>,
    free: Vec<usize>,
    /// Classes by a hash of their properties.
    prints: HashMap<u64, Vec<usize>>,
    strings: HashSet<Arc<str>>,
    /// Whether a class was added or removed since the view's classes were made.
    stale: bool,
    /// Whether a node was added, changed or removed since the last view.
    moved: bool,
    many: usize,
    /// Labels in the selectors of profiles.
    asked: BTreeSet<Arc<str>>,
}

impl Default for NodeBuilder {
    fn default() -> Self {
        let mut view = NodeView::default();
        view.own_keys.insert(Arc::from(HOSTNAME_LABEL), Vec::new());
        Self {
            view,
            slots: Vec::new(),
            free: Vec::new(),
            prints: HashMap::new(),
            strings: HashSet::new(),
            stale: false,
            moved: false,
            many: CLASSES_BEFORE_LABEL_IS_REMOVED,
            asked: BTreeSet::new(),
        }
    }
}

/// A node that is being added.
struct IncomingNode<'a> {
    labels: Vec<(&'a str, &'a str)>,
    taints: Vec<Taint>,
    /// Extended resources with their units.
    resources: Vec<(&'a str, u64)>,
    lists: bool,
    has_too_many_resources: bool,
    has_more_labels: bool,
}

impl NodeBuilder {
    /// Adds a node in place of its earlier state; returns whether anything changed. A heartbeat changes nothing. A
    /// node without a name is skipped.
    pub fn add_or_replace_node(&mut self, node: &NodeObject<'_>) -> bool {
        let Some(name) = node.name() else { return false };
        let resources = node.known_resources();
        let incoming = IncomingNode {
            labels: node.labels(),
            taints: node.lasting_taints(),
            lists: resources.is_some(),
            resources: resources.unwrap_or_default(),
            has_too_many_resources: node.has_too_many_resources(),
            has_more_labels: node.has_more_labels(),
        };
        let changed = self.replace_node(name, incoming);
        self.limit_classes_by_removing_labels();
        changed
    }

    /// Removes a node; returns whether it was known.
    pub fn delete(&mut self, name: &str) -> bool {
        let known = self.view.nodes.remove(name);
        if let Some(entry) = &known {
            self.uncount_node_and_drop_empty_class(name, entry);
        }
        known.is_some()
    }

    /// Names of all nodes.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.view.nodes.iter().map(|(name, _)| name)
    }

    /// Sets the labels by which profiles select their nodes. Those are always part of the classes.
    pub fn keep_profile_labels_in_classes<'a>(&mut self, labels: impl Iterator<Item = &'a str>) {
        let asked: BTreeSet<Arc<str>> = labels.map(Arc::from).collect();
        if asked == self.asked {
            return;
        }
        let mut own: BTreeSet<Arc<str>> = self.view.own_keys.keys().cloned().collect();
        own.insert(Arc::from(HOSTNAME_LABEL));
        own.retain(|key| !asked.contains(key));
        self.asked = asked;
        if !own.iter().eq(self.view.own_keys.keys()) {
            self.classify_all_nodes_again(own);
        }
    }

    /// The current nodes. Costs little if no class was added or removed.
    pub fn rebuild_view_if_changed(&mut self) -> NodeView {
        if self.stale {
            self.view.classes = Arc::new(NodeClasses::new(self.slots.clone()));
            self.strings.retain(|s| Arc::strong_count(s) > 1);
            self.stale = false;
        }
        // All nodes are visited for them: views of the same nodes share them.
        if std::mem::take(&mut self.moved) {
            self.view.firsts = Arc::default();
        }
        self.view.clone()
    }

    fn replace_node(&mut self, name: &str, incoming: IncomingNode<'_>) -> bool {
        let is_own = |key: &str| self.view.own_keys.contains_key(key);
        let named = is_own(HOSTNAME_LABEL) && incoming.labels.contains(&(HOSTNAME_LABEL, name));
        let own: Vec<(Arc<str>, Box<str>)> = incoming
            .labels
            .iter()
            .filter(|(k, _)| is_own(k) && !(named && *k == HOSTNAME_LABEL))
            .filter_map(|(k, v)| Some((Arc::clone(self.view.own_keys.get_key_value(*k)?.0), Box::from(*v))))
            .collect();
        let labels: Vec<(&str, &str)> = incoming.labels.iter().copied().filter(|(k, _)| !is_own(k)).collect();
        let resources: Vec<&str> = incoming.resources.iter().map(|(name, _)| *name).collect();
        let class = self.class_number_or_new(&labels, &resources, &incoming);
        let amounts = match incoming.has_too_many_resources {
            true => resource_amounts::UNKNOWN_LIST,
            false => self.view.amounts.find_used_list(&incoming.resources).unwrap_or_else(|| {
                let units = incoming.resources.iter();
                let units = units.map(|(name, units)| (self.shared_string(name), *units)).collect();
                Arc::make_mut(&mut self.view.amounts).keep_new_list(units)
            }),
        };
        let entry = NodeEntry::new(class, amounts, named, own);
        if self.view.nodes.get(name) == Some(&entry) {
            return false;
        }
        self.count_node_in_or_out(&entry, name, true);
        if let Some(old) = self.view.nodes.insert(name, entry) {
            self.uncount_node_and_drop_empty_class(name, &old);
        }
        true
    }

    /// Number of the class with the labels and resources of the class of a node, and its other properties; a new number if there
    /// is none yet.
    fn class_number_or_new(
        &mut self,
        labels: &[(&str, &str)],
        resources: &[&str],
        incoming: &IncomingNode<'_>,
    ) -> usize {
        let IncomingNode { taints, lists, has_more_labels, .. } = incoming;
        let mut hasher = DefaultHasher::new();
        (labels, taints, resources, lists, has_more_labels).hash(&mut hasher);
        let print = hasher.finish();
        let same = |class: &NodeClass| {
            class.taints == *taints
                && class.lists == *lists
                && class.has_more_labels == *has_more_labels
                && class.labels.iter().map(|(k, v)| (&**k, &**v)).eq(labels.iter().copied())
                && class.resources.iter().map(|r| &**r).eq(resources.iter().copied())
        };
        let known = self.prints.get(&print).into_iter().flatten().copied();
        if let Some(number) =
            known.into_iter().find(|n| self.slots.get(*n).and_then(Option::as_deref).is_some_and(same))
        {
            return number;
        }
        let class = NodeClass {
            labels: labels.iter().map(|(k, v)| (self.shared_string(k), self.shared_string(v))).collect(),
            taints: taints.clone(),
            resources: resources.iter().map(|r| self.shared_string(r)).collect(),
            lists: *lists,
            has_more_labels: *has_more_labels,
        };
        self.stale = true;
        let number = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.view.counts.push(0);
            self.slots.len() - 1
        });
        if let Some(slot) = self.slots.get_mut(number) {
            *slot = Some(Arc::new(class));
        }
        self.prints.entry(print).or_default().push(number);
        number
    }

    fn shared_string(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.strings.get(text) {
            return Arc::clone(known);
        }
        let new: Arc<str> = Arc::from(text);
        self.strings.insert(Arc::clone(&new));
        new
    }

    fn count_node_in_or_out(&mut self, entry: &NodeEntry, name: &str, more: bool) {
        self.moved = true;
        let bump = |counts: &mut Vec<usize>| {
            if counts.len() <= entry.class() {
                counts.resize(entry.class() + 1, 0);
            }
            if let Some(count) = counts.get_mut(entry.class()) {
                *count = if more { *count + 1 } else { count.saturating_sub(1) };
            }
        };
        bump(&mut self.view.counts);
        Arc::make_mut(&mut self.view.amounts).count_node_in_or_out(entry.class(), entry.amounts, more);
        for (key, counts) in &mut self.view.own_keys {
            if entry.label_outside_class(name, key).is_some() {
                bump(counts);
            }
        }
        for (key, value) in &entry.own {
            let at = index_key_of_label_value(key, value);
            if more {
                let name: Arc<str> = Arc::from(name);
                self.view.values.change_or_insert(&at, Vec::new, |names| names.push(name));
            } else {
                let mut left = 0;
                self.view.values.change_or_insert(&at, Vec::new, |names| {
                    names.retain(|n| **n != *name);
                    left = names.len();
                });
                if left == 0 {
                    self.view.values.remove(&at);
                }
            }
        }
    }

    /// Takes back what a node counted for.
    fn uncount_node_and_drop_empty_class(&mut self, name: &str, entry: &NodeEntry) {
        self.count_node_in_or_out(entry, name, false);
        if self.view.counts.get(entry.class()) == Some(&0)
            && let Some(class) = self.slots.get_mut(entry.class()).and_then(Option::take)
        {
            let labels: Vec<(&str, &str)> = class.labels.iter().map(|(k, v)| (&**k, &**v)).collect();
            let resources: Vec<&str> = class.resources.iter().map(|r| &**r).collect();
            let mut hasher = DefaultHasher::new();
            let taints = class.taints.as_slice();
            (labels.as_slice(), taints, resources.as_slice(), class.lists, class.has_more_labels)
                .hash(&mut hasher);
            let print = hasher.finish();
            if let Some(numbers) = self.prints.get_mut(&print) {
                numbers.retain(|n| *n != entry.class());
                if numbers.is_empty() {
                    self.prints.remove(&print);
                }
            }
            self.free.push(entry.class());
            self.stale = true;
        }
    }

    /// Limits the number of classes: the label with the most values is removed from them, and is looked up by node
    /// from then on.
    fn limit_classes_by_removing_labels(&mut self) {
        // Twice as many labels each time: a file may give its nodes many such labels.
        let mut labels = 1;
        while self.slots.len() - self.free.len() > self.many {
            let mut values: BTreeMap<&str, HashSet<&str>> = BTreeMap::new();
            for class in self.slots.iter().flatten() {
                for (key, value) in class.labels.iter().filter(|(key, _)| !self.asked.contains(key)) {
                    values.entry(key).or_default().insert(value);
                }
            }
            let mut most: Vec<(usize, &str)> =
                values.iter().map(|(key, values)| (values.len(), *key)).filter(|(n, _)| *n > 64).collect();
            if most.is_empty() {
                // No single label is the cause: these are many kinds of nodes.
                self.many *= 2;
                return;
            }
            most.sort_unstable_by(|a, b| b.cmp(a));
            let mut own: BTreeSet<Arc<str>> = self.view.own_keys.keys().cloned().collect();
            own.extend(most.into_iter().take(labels).map(|(_, key)| Arc::from(key)));
            labels *= 2;
            self.classify_all_nodes_again(own);
        }
    }

    /// Classifies every node again, with other labels left out of the classes.
    fn classify_all_nodes_again(&mut self, own_keys: BTreeSet<Arc<str>>) {
        let mut old = std::mem::take(self);
        self.many = old.many;
        self.view.own_keys = own_keys.into_iter().map(|key| (key, Vec::new())).collect();
        std::mem::swap(&mut self.strings, &mut old.strings);
        std::mem::swap(&mut self.asked, &mut old.asked);
        for (name, entry) in old.view.nodes.iter() {
            let Some(class) = old.slots.get(entry.class()).and_then(Option::as_deref) else { continue };
            let mut labels: Vec<(&str, &str)> = class.labels.iter().map(|(k, v)| (&**k, &**v)).collect();
            labels.extend(entry.own.iter().map(|(k, v)| (&**k, &**v)));
            if entry.named {
                labels.push((HOSTNAME_LABEL, name));
            }
            labels.sort_unstable();
            let resources = old.view.amounts.list(entry.amounts);
            let is_unknown = entry.amounts == resource_amounts::UNKNOWN_LIST;
            let resources = match is_unknown {
                true => class.resources.iter().map(|name| (&**name, 0)).collect(),
                false => resources.iter().map(|(name, units)| (&**name, *units)).collect(),
            };
            let taints = class.taints.clone();
            let (lists, has_more_labels) = (class.lists, class.has_more_labels);
            // A node with too many resources counts as one that lists none, and its amounts as unknown.
            let has_too_many_resources = is_unknown && !lists;
            let incoming =
                IncomingNode { labels, taints, resources, lists, has_too_many_resources, has_more_labels };
            self.replace_node(name, incoming);
        }
        self.stale = true;
    }

    /// For tests of the limit on classes.
    #[cfg(test)]
    pub(super) fn with_bound(many: usize) -> Self {
        Self { many, ..Self::default() }
    }
}
