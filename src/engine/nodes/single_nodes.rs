//! Conditions that need single nodes: names, and labels whose value differs on every node.

use super::HOSTNAME_LABEL;
use super::classes::ClassSet;
use super::requirement::{Relation, Requirement};
use super::view::{NodeEntry, NodeView, value_key};
use std::collections::BTreeSet;

/// How often one pod may make us look at every node. A pod can have thousands of terms; beyond this limit, a term keeps all
/// classes that its other conditions leave, which is at worst one profile too many.
pub(super) const SCANS: usize = 4;

/// Keeps the classes with at least one node that satisfies every condition. `scans` is the number of passes over all
/// nodes that are left.
pub(super) fn refine(
    view: &NodeView,
    set: ClassSet,
    labels: &[Requirement<'_>],
    names: &[Requirement<'_>],
    scans: &mut usize,
) -> ClassSet {
    if (labels.is_empty() && names.is_empty()) || set.is_clear() {
        return set;
    }
    let conditions = Conditions { view, labels, names };
    if let Some(listed) = conditions.listed() {
        let mut fits = view.classes.none();
        for (name, entry) in listed.into_iter().filter_map(|n| view.nodes.get(n).map(|e| (n, e))) {
            if set.contains(entry.class()) && conditions.hold(name, entry) {
                fits.insert(entry.class());
            }
        }
        return fits;
    }
    if let Some(excluded) = conditions.excluded() {
        let mut left = view.counts.clone();
        for entry in excluded.into_iter().filter_map(|name| view.nodes.get(name)) {
            if let Some(count) = left.get_mut(entry.class()) {
                *count = count.saturating_sub(1);
            }
        }
        return keep(set, |class| left.get(class).copied().unwrap_or(0) > 0);
    }
    if let ([one], []) = (labels, names)
        && let Some(have) = view.own_keys.get(one.key)
    {
        let having = |class: usize| have.get(class).copied().unwrap_or(0);
        match one.relation {
            Relation::Exists => return keep(set, |class| having(class) > 0),
            Relation::DoesNotExist => {
                return keep(set, |class| view.counts.get(class).is_some_and(|all| *all > having(class)));
            }
            _ => {}
        }
    }
    // Several conditions, none of which names nodes: every node is checked. Hardly anybody writes this.
    let Some(left) = scans.checked_sub(1) else { return set };
    *scans = left;
    let mut fits = view.classes.none();
    for (name, entry) in view.nodes.iter() {
        if set.contains(entry.class()) && !fits.contains(entry.class()) && conditions.hold(name, entry) {
            fits.insert(entry.class());
        }
    }
    fits
}

fn keep(mut set: ClassSet, keep: impl Fn(usize) -> bool) -> ClassSet {
    for class in set.clone().ones() {
        if !keep(class) {
            set.remove(class);
        }
    }
    set
}

struct Conditions<'a> {
    view: &'a NodeView,
    labels: &'a [Requirement<'a>],
    names: &'a [Requirement<'a>],
}

impl<'a> Conditions<'a> {
    fn hold(&self, name: &str, entry: &NodeEntry) -> bool {
        self.names.iter().all(|r| r.holds(Some(name)))
            && self.labels.iter().all(|r| r.holds(entry.own(name, r.key)))
    }

    /// The nodes that a condition lists, if it lists any.
    fn listed(&self) -> Option<Vec<&'a str>> {
        if let Some(names) = self.names.iter().find(|r| r.relation == Relation::In) {
            return Some(names.values.iter().collect());
        }
        let label = self.labels.iter().find(|r| r.relation == Relation::In)?;
        Some(label.values.iter().flat_map(|value| self.with(label.key, value)).collect())
    }

    /// The nodes that the conditions exclude, if all of them only exclude nodes.
    fn excluded(&self) -> Option<BTreeSet<&'a str>> {
        if self.labels.iter().chain(self.names).any(|r| r.relation != Relation::NotIn) {
            return None;
        }
        let mut excluded: BTreeSet<&str> = self.names.iter().flat_map(|r| r.values.iter()).collect();
        for label in self.labels {
            excluded.extend(label.values.iter().flat_map(|value| self.with(label.key, value)));
        }
        Some(excluded)
    }

    /// The nodes with a value of a label that is not part of the classes.
    fn with(&self, key: &str, value: &'a str) -> Vec<&'a str> {
        let mut names: Vec<&str> =
            self.view.values.get(&value_key(key, value)).into_iter().flatten().map(|name| &**name).collect();
        if key == HOSTNAME_LABEL && self.view.nodes.get(value).is_some_and(|entry| entry.named) {
            names.push(value);
        }
        names
    }
}
