//! Conditions that need single nodes: names, and labels whose value differs on every node.

use super::HOSTNAME_LABEL;
use super::label_requirement::{LabelRequirement, Relation};
use super::node_classes::ClassSet;
use super::nodes_view::{NodeEntry, NodeView, index_key_of_label_value};
use crate::decision_limits::DecisionLimits;
use std::collections::HashSet;
use std::sync::Arc;

/// How many looks at nodes one pod may take: one at a node for each condition on single nodes, or one at a class. A pod can
/// have thousands of terms and of values, and a value thousands of nodes. Beyond this limit a term keeps all classes that
/// its other conditions leave, which is at worst one profile too many.
pub(super) const MAX_LOOKS_PER_POD: usize = 1 << 18;

/// What a node that a value names takes: it is looked up by its name.
const LOOKS_PER_NAMED_NODE: usize = 8;

/// The looks that are left to the pod, and to the decision.
pub(super) struct LookBudget<'d> {
    left: usize,
    deadline: &'d DecisionLimits<'d>,
    /// Whether the looks are for a reason that people read.
    for_reasons: bool,
}

impl<'d> LookBudget<'d> {
    pub(super) fn new(deadline: &'d DecisionLimits<'d>) -> Self {
        Self { left: MAX_LOOKS_PER_POD, deadline, for_reasons: false }
    }

    /// For a reason that people read: a decision does not depend on it.
    pub(super) fn for_reasons_shown_to_people(deadline: &'d DecisionLimits<'d>) -> Self {
        Self { for_reasons: true, ..Self::new(deadline) }
    }

    /// Whether the time is over.
    pub(super) fn is_over(&self) -> bool {
        self.deadline.is_over()
    }

    /// Takes as many looks; `None` where fewer are left.
    fn take_looks(&mut self, looks: usize) -> Option<()> {
        self.left = self.left.checked_sub(looks)?;
        let may = match self.for_reasons {
            true => self.deadline.take_looks_for_reasons(looks),
            false => self.deadline.take_looks(looks),
        };
        may.then_some(())
    }
}

/// Keeps the classes with at least one node that satisfies every condition, as far as the looks suffice: conditions on
/// labels that several terms share, those of one term, and those on names.
pub(super) fn keep_matching_classes_within_budget(
    view: &NodeView,
    set: ClassSet,
    labels: [&[SingleNodeCondition<'_>]; 2],
    names: &[SingleNodeCondition<'_>],
    budget: &mut LookBudget<'_>,
) -> ClassSet {
    let conditions = Conditions { view, labels, names };
    if conditions.count() == 0 || set.is_clear() {
        return set;
    }
    conditions.classes_with_matching_node(&set, budget).unwrap_or(set)
}

fn keep(set: &ClassSet, keep: impl Fn(usize) -> bool) -> ClassSet {
    let mut kept = set.clone();
    set.ones().filter(|class| !keep(*class)).for_each(|class| kept.remove(class));
    kept
}

/// A requirement, with its values as a set where it lists or excludes them: each counts once, however often the pod
/// repeats it.
pub(super) struct SingleNodeCondition<'a> {
    requirement: LabelRequirement<'a>,
    values: HashSet<&'a str>,
}

impl<'a> SingleNodeCondition<'a> {
    pub(super) fn of(requirement: &LabelRequirement<'a>) -> Self {
        let listed = matches!(requirement.relation, Relation::In | Relation::NotIn);
        let values = if listed { requirement.values.iter().collect() } else { HashSet::new() };
        Self { requirement: *requirement, values }
    }

    fn holds(&self, value: Option<&str>) -> bool {
        match (self.requirement.relation, value) {
            (Relation::In, Some(value)) => self.values.contains(value),
            (Relation::NotIn, Some(value)) => !self.values.contains(value),
            _ => self.requirement.holds(value),
        }
    }

    fn is(&self, relation: Relation) -> bool {
        self.requirement.relation == relation
    }
}

/// The nodes behind a value.
pub(super) struct NodesWithLabelValue<'a> {
    having: &'a [Arc<str>],
    named: Option<&'a str>,
}

impl<'a> NodesWithLabelValue<'a> {
    pub(super) fn len(&self) -> usize {
        self.having.len() + usize::from(self.named.is_some())
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.having.iter().map(|name| &**name).chain(self.named)
    }
}

impl NodeView {
    /// The nodes with a value of a label that is not part of the classes.
    pub(super) fn nodes_with_value_outside_classes<'a>(
        &'a self,
        key: &str,
        value: &'a str,
    ) -> NodesWithLabelValue<'a> {
        let having =
            self.values.get(&index_key_of_label_value(key, value)).map(Vec::as_slice).unwrap_or_default();
        let named = key == HOSTNAME_LABEL && self.nodes.get(value).is_some_and(|entry| entry.named);
        NodesWithLabelValue { having, named: named.then_some(value) }
    }
}

struct Conditions<'a> {
    view: &'a NodeView,
    labels: [&'a [SingleNodeCondition<'a>]; 2],
    names: &'a [SingleNodeCondition<'a>],
}

impl<'a> Conditions<'a> {
    fn labels(&self) -> impl Iterator<Item = &'a SingleNodeCondition<'a>> + use<'a> {
        let [shared, own] = self.labels;
        shared.iter().chain(own)
    }

    /// Conditions (count).
    fn count(&self) -> usize {
        self.labels.iter().map(|l| l.len()).sum::<usize>() + self.names.len()
    }

    /// Whether every node has to be checked, since some have more labels than are kept and may have one that is excluded.
    fn excludes_label_not_kept(&self, set: &ClassSet) -> bool {
        self.labels()
            .filter(|c| c.is(Relation::NotIn) || c.is(Relation::DoesNotExist))
            .any(|c| self.view.classes.may_any_have_label_not_kept(set, c.requirement.key))
    }

    /// The classes of a set that are kept; `None` where the looks do not suffice.
    fn classes_with_matching_node(&self, set: &ClassSet, budget: &mut LookBudget<'_>) -> Option<ClassSet> {
        let view = self.view;
        let each = self.count();
        let nodes =
            |behind: &[NodesWithLabelValue<'_>]| behind.iter().map(NodesWithLabelValue::len).sum::<usize>();
        if let Some(listed) = self.listed() {
            budget.take_looks(nodes(&listed).saturating_mul(each).saturating_mul(LOOKS_PER_NAMED_NODE))?;
            let listed = listed.iter().flat_map(NodesWithLabelValue::names);
            return Some(self.classes_with_node_that_holds(
                set,
                listed.filter_map(|n| view.nodes.get(n).map(|e| (n, e))),
            ));
        }
        let check_each = self.excludes_label_not_kept(set);
        if let Some(excluded) = self.excluded().filter(|_| !check_each) {
            let looks = nodes(&excluded).saturating_mul(LOOKS_PER_NAMED_NODE);
            budget.take_looks(looks.saturating_add(view.counts.len()))?;
            let mut left = view.counts.clone();
            let excluded: HashSet<&str> = excluded.iter().flat_map(NodesWithLabelValue::names).collect();
            for entry in excluded.into_iter().filter_map(|name| view.nodes.get(name)) {
                if let Some(count) = left.get_mut(entry.class()) {
                    *count = count.saturating_sub(1);
                }
            }
            return Some(keep(set, |class| left.get(class).copied().unwrap_or(0) > 0));
        }
        let [shared, own] = self.labels;
        if let ([one], []) | ([], [one]) = (shared, own)
            && self.names.is_empty()
            && let Some(have) = view.own_keys.get(one.requirement.key)
            && (one.is(Relation::Exists) || one.is(Relation::DoesNotExist))
            && !check_each
        {
            budget.take_looks(view.counts.len())?;
            let having = |class: usize| have.get(class).copied().unwrap_or(0);
            let all = |class: usize| view.counts.get(class).copied().unwrap_or(0);
            let exists = one.is(Relation::Exists);
            return Some(keep(set, |c| if exists { having(c) > 0 } else { all(c) > having(c) }));
        }
        // Several conditions, none of which names nodes: every node is checked. Hardly anybody writes this.
        budget.take_looks(view.nodes.len().saturating_mul(each))?;
        Some(self.classes_with_node_that_holds(set, view.nodes.iter()))
    }

    /// The classes of a set that have one of the nodes, such that every condition holds for it.
    fn classes_with_node_that_holds<'n>(
        &self,
        set: &ClassSet,
        nodes: impl Iterator<Item = (&'n str, &'n NodeEntry)>,
    ) -> ClassSet {
        let mut fits = self.view.classes.empty_set();
        for (name, entry) in nodes {
            if set.contains(entry.class()) && !fits.contains(entry.class()) && self.hold(name, entry) {
                fits.insert(entry.class());
            }
        }
        fits
    }

    fn hold(&self, name: &str, entry: &NodeEntry) -> bool {
        self.names.iter().all(|c| c.holds(Some(name)))
            && self.labels().all(|c| match entry.label_outside_class(name, c.requirement.key) {
                None if self.view.classes.may_have_label_not_kept(entry.class(), c.requirement.key) => false,
                value => c.holds(value),
            })
    }

    /// The nodes that a condition lists, if it lists any.
    fn listed(&self) -> Option<Vec<NodesWithLabelValue<'a>>> {
        if let Some(names) = self.names.iter().find(|c| c.is(Relation::In)) {
            return Some(
                names
                    .values
                    .iter()
                    .map(|name| NodesWithLabelValue { having: &[], named: Some(name) })
                    .collect(),
            );
        }
        let label = self.labels().find(|c| c.is(Relation::In))?;
        Some(
            label
                .values
                .iter()
                .map(|value| self.view.nodes_with_value_outside_classes(label.requirement.key, value))
                .collect(),
        )
    }

    /// The nodes that the conditions exclude, if all of them only exclude nodes.
    fn excluded(&self) -> Option<Vec<NodesWithLabelValue<'a>>> {
        if !self.labels().chain(self.names).all(|c| c.is(Relation::NotIn)) {
            return None;
        }
        let names = self.names.iter().flat_map(|c| &c.values);
        let mut excluded: Vec<NodesWithLabelValue<'a>> =
            names.map(|name| NodesWithLabelValue { having: &[], named: Some(name) }).collect();
        for label in self.labels() {
            excluded.extend(
                label
                    .values
                    .iter()
                    .map(|value| self.view.nodes_with_value_outside_classes(label.requirement.key, value)),
            );
        }
        Some(excluded)
    }
}
