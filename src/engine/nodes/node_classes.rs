//! Node classes: nodes that are alike in labels, lasting taints and extended resources. A pod is matched against
//! classes, never against nodes, so that a decision costs the same at ten nodes and at a hundred thousand.

use super::compact_class_set::CompactClassSet;
use super::label_requirement::{LabelRequirement, Relation};
use super::node_object::LABELS_ALWAYS_KEPT;
use super::taints_and_tolerations::Taint;
use fixedbitset::FixedBitSet;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A set of classes.
pub type ClassSet = FixedBitSet;

/// Nodes that are alike. Labels whose value differs on every node are not part of it.
#[derive(Debug, PartialEq, Eq)]
pub struct NodeClass {
    /// Labels by key.
    pub labels: Vec<(Arc<str>, Arc<str>)>,
    /// Lasting taints.
    pub taints: Vec<Taint>,
    /// Names of the extended resources that its nodes list. The number of units changes no answer.
    pub resources: Vec<Arc<str>>,
    /// Whether it is known which resources its nodes list: a Node in a file may have only labels, and some Node may list more
    /// resources than are kept.
    pub lists: bool,
    /// Whether its nodes have more labels than are kept. They satisfy no condition on a label that is not kept, also none that
    /// excludes it: if they counted as nodes that may or may not have any label, one node would change the profiles of pods that
    /// never run on it. A pod that asks for such a label counts as one whose node does not exist yet, as in a pool that has no
    /// nodes now.
    pub has_more_labels: bool,
}

impl NodeClass {
    /// Value of a label.
    #[must_use]
    pub fn label(&self, key: &str) -> Option<&str> {
        let at = self.labels.binary_search_by(|(k, _)| (**k).cmp(key)).ok()?;
        self.labels.get(at).map(|(_, value)| &**value)
    }

    /// Whether its nodes list an extended resource, even with 0 units while its plugin restarts.
    #[must_use]
    pub fn lists_resource(&self, resource: &str) -> bool {
        self.resources.binary_search_by(|name| (**name).cmp(resource)).is_ok()
    }
}

/// Every class, and which of them have a label.
#[derive(Debug, Default)]
pub struct NodeClasses {
    /// By number; the number of a class without nodes is empty.
    slots: Vec<Option<Arc<NodeClass>>>,
    all: ClassSet,
    keys: HashMap<Arc<str>, Key>,
    /// Each taint once, with the classes that have it: machines of one kind differ in one of their taints.
    taints: Vec<(Taint, CompactClassSet)>,
    /// Which classes list an extended resource. Each node may have one of its own.
    offering: BTreeMap<Arc<str>, CompactClassSet>,
    /// Which classes list resources at all.
    listing: ClassSet,
    /// Which classes have more labels than are kept. Without room for any class if none has.
    with_more_labels: ClassSet,
}

#[derive(Debug, Default)]
struct Key {
    present: ClassSet,
    /// Compact: a profile may select its nodes by a label that differs on every node, and then there are as many classes as
    /// nodes, and as many values.
    values: BTreeMap<Arc<str>, CompactClassSet>,
    /// The values that are whole numbers, in order, each with a class that has it.
    numbers: Vec<(i64, usize)>,
}

impl Key {
    /// The numbers that satisfy a comparison.
    fn numbers_within(&self, requirement: LabelRequirement<'_>) -> &[(i64, usize)] {
        let Some(bound) = requirement.number_to_compare_with() else { return &[] };
        let within = match requirement.relation {
            Relation::Gt => self.numbers.get(self.numbers.partition_point(|(n, _)| *n <= bound)..),
            _ => self.numbers.get(..self.numbers.partition_point(|(n, _)| *n < bound)),
        };
        within.unwrap_or_default()
    }
}

impl NodeClasses {
    pub(super) fn new(slots: Vec<Option<Arc<NodeClass>>>) -> Self {
        let empty = || ClassSet::with_capacity(slots.len());
        let mut classes = Self { all: empty(), listing: empty(), ..Self::default() };
        let mut taints: BTreeMap<&Taint, Vec<usize>> = BTreeMap::new();
        let mut listing: BTreeMap<&Arc<str>, Vec<usize>> = BTreeMap::new();
        let mut having: HashMap<&Arc<str>, BTreeMap<&Arc<str>, Vec<usize>>> = HashMap::new();
        for (number, class) in slots.iter().enumerate() {
            let Some(class) = class else { continue };
            classes.all.insert(number);
            classes.listing.set(number, class.lists);
            if class.has_more_labels {
                classes.with_more_labels.grow_and_insert(number);
            }
            for taint in &class.taints {
                taints.entry(taint).or_default().push(number);
            }
            for resource in &class.resources {
                listing.entry(resource).or_default().push(number);
            }
            for (key, value) in &class.labels {
                having.entry(key).or_default().entry(value).or_default().push(number);
                let key = classes.keys.entry(Arc::clone(key)).or_insert_with(|| Key {
                    present: empty(),
                    values: BTreeMap::new(),
                    numbers: Vec::new(),
                });
                key.present.insert(number);
                key.numbers.extend(value.parse().ok().map(|value: i64| (value, number)));
            }
        }
        let set = |numbers: Vec<usize>| CompactClassSet::from_class_numbers(&numbers, slots.len());
        let named = |(name, numbers): (&Arc<str>, Vec<usize>)| (Arc::clone(name), set(numbers));
        classes.offering = listing.into_iter().map(named).collect();
        classes.keys.iter_mut().for_each(|(name, key)| {
            key.values = having.remove(name).into_iter().flatten().map(named).collect();
            key.numbers.sort_unstable();
        });
        classes.taints = taints.into_iter().map(|(taint, numbers)| (taint.clone(), set(numbers))).collect();
        classes.slots = slots;
        classes
    }

    /// A class by its number.
    #[must_use]
    pub fn get(&self, number: usize) -> Option<&NodeClass> {
        self.slots.get(number)?.as_deref()
    }

    /// Every class.
    #[must_use]
    pub fn all(&self) -> &ClassSet {
        &self.all
    }

    /// No class.
    #[must_use]
    pub fn empty_set(&self) -> ClassSet {
        ClassSet::with_capacity(self.slots.len())
    }

    /// Removes from `set` the classes that do not satisfy a requirement.
    pub fn remove_classes_not_satisfying(&self, set: &mut ClassSet, requirement: LabelRequirement<'_>) {
        let key = self.keys.get(requirement.key);
        match (requirement.relation, key) {
            (Relation::In, Some(key)) => {
                let mut values = requirement.values.iter();
                match (values.next(), values.next()) {
                    (Some(one), None) => match key.values.get(one) {
                        Some(have) => have.keep_in_set(set),
                        None => set.clear(),
                    },
                    _ => set.intersect_with(&self.any_of(key, requirement)),
                }
            }
            (Relation::NotIn, Some(key)) => {
                for have in requirement.values.iter().filter_map(|v| key.values.get(v)) {
                    have.remove_from_set(set);
                }
                self.remove_classes_that_may_have_label(set, requirement.key);
            }
            (Relation::Exists, Some(key)) => set.intersect_with(&key.present),
            (Relation::DoesNotExist, Some(key)) => {
                set.difference_with(&key.present);
                self.remove_classes_that_may_have_label(set, requirement.key);
            }
            (Relation::Gt | Relation::Lt, Some(key)) => {
                let mut holding = self.empty_set();
                key.numbers_within(requirement).iter().for_each(|(_, class)| holding.insert(*class));
                set.intersect_with(&holding);
            }
            (Relation::NotIn | Relation::DoesNotExist, None) => {
                self.remove_classes_that_may_have_label(set, requirement.key);
            }
            (Relation::In | Relation::Exists | Relation::Gt | Relation::Lt, None) => set.clear(),
        }
    }

    /// Removes from `set` the classes for which it is not known whether they have a label.
    fn remove_classes_that_may_have_label(&self, set: &mut ClassSet, key: &str) {
        if !self.has_nodes_with_more_labels() || LABELS_ALWAYS_KEPT.contains(&key) {
            return;
        }
        let mut may_have = self.with_more_labels.clone();
        if let Some(known) = self.keys.get(key) {
            may_have.difference_with(&known.present);
        }
        set.difference_with(&may_have);
    }

    /// Whether a class of a set has more labels than are kept, one of which may have this key.
    pub(super) fn may_any_have_label_not_kept(&self, set: &ClassSet, key: &str) -> bool {
        !LABELS_ALWAYS_KEPT.contains(&key) && !self.with_more_labels.is_disjoint(set)
    }

    /// The same for one class.
    pub(super) fn may_have_label_not_kept(&self, class: usize, key: &str) -> bool {
        self.with_more_labels.contains(class) && !LABELS_ALWAYS_KEPT.contains(&key)
    }

    fn any_of(&self, key: &Key, requirement: LabelRequirement<'_>) -> ClassSet {
        let mut any = self.empty_set();
        for have in requirement.values.iter().filter_map(|v| key.values.get(v)) {
            have.add_to_set(&mut any);
        }
        any
    }

    /// Extended resources, and the classes that list them.
    pub(crate) fn resources_with_offering_classes(&self) -> impl Iterator<Item = (&str, &CompactClassSet)> {
        self.offering.iter().map(|(name, set)| (&**name, set))
    }

    /// The classes that list an extended resource.
    #[must_use]
    pub(crate) fn classes_offering(&self, resource: &str) -> Option<&CompactClassSet> {
        self.offering.get(resource)
    }

    /// The classes that list resources at all.
    #[must_use]
    pub fn classes_listing_resources(&self) -> &ClassSet {
        &self.listing
    }

    /// Whether any class has a label.
    #[must_use]
    pub fn has_label_key(&self, key: &str) -> bool {
        self.keys.contains_key(key)
    }

    /// Whether any node has more labels than are kept, so that a label which no class has may exist.
    pub(super) fn has_nodes_with_more_labels(&self) -> bool {
        !self.with_more_labels.is_empty()
    }

    /// Keys of the labels of classes.
    pub(super) fn label_keys(&self) -> impl Iterator<Item = &str> {
        self.keys.keys().map(|key| &**key)
    }

    /// Values of a label.
    pub(super) fn label_values(&self, key: &str) -> impl Iterator<Item = &str> {
        self.keys.get(key).into_iter().flat_map(|key| key.values.keys().map(|value| &**value))
    }

    /// Whether any class has a label with this value.
    pub(super) fn has_value(&self, key: &str, value: &str) -> bool {
        self.keys.get(key).is_some_and(|key| key.values.contains_key(value))
    }

    /// Whether any class has a taint with this key.
    pub(crate) fn has_taint_key(&self, key: &str) -> bool {
        let at = self.taints.partition_point(|(taint, _)| *taint.key < *key);
        self.taints.get(at).is_some_and(|(taint, _)| *taint.key == *key)
    }

    /// Different taints of all classes (count).
    pub(crate) fn number_of_taints(&self) -> usize {
        self.taints.len()
    }

    /// The classes whose taints are all tolerated. `tolerates` is asked once for each key.
    pub fn classes_with_tolerated_taints<T: Fn(&Taint) -> bool>(
        &self,
        tolerates: impl Fn(&str) -> T,
    ) -> ClassSet {
        let mut set = self.all.clone();
        for of_key in self.taints.chunk_by(|(one, _), (next, _)| one.key == next.key) {
            let Some((first, _)) = of_key.first() else { continue };
            let tolerates = tolerates(&first.key);
            for (_, having) in of_key.iter().filter(|(taint, _)| !tolerates(taint)) {
                having.remove_from_set(&mut set);
            }
        }
        set
    }
}
