//! Why a pod cannot run on nodes, for people: the constraints that exclude them, and how many nodes each excludes.

use super::conditions_on_single_nodes::{
    LookBudget, SingleNodeCondition, keep_matching_classes_within_budget,
};
use super::label_requirement::LabelRequirement;
use super::node_classes::ClassSet;
use super::nodes_view::NodeView;
use super::taints_and_tolerations::Taint;
use super::which_nodes_fit_pod::{
    NodeConstraintsOfPod, class_of_named_node, classes_pod_can_run_on_within_budget,
};
use crate::decision_limits::DecisionLimits;
use std::collections::HashMap;

/// How a constraint begins that is a taint of the nodes. All others are the pod's own text.
pub(crate) const TAINT: &str = "taint ";

/// A constraint that excludes some nodes, and how many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExcludedBy {
    /// `taint dedicated=ib:NoSchedule`, `nodeSelector pool=a`, `affinity zone in (a, b)`.
    pub by: String,
    /// Nodes (count).
    pub nodes: usize,
}

/// Most constraints that are shown. A cluster may have thousands of taints, and each pod would repeat them.
pub(crate) const MAX_SHOWN_CONSTRAINTS: usize = 20;

/// Looks at nodes that a comparison of the taints of one class takes.
const LOOKS_PER_CLASS: usize = 4;

/// The constraints that exclude nodes of a set, in the order of the pod's fields, after the taints of the nodes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExcludingConstraints {
    /// The first 20.
    pub first: Vec<ExcludedBy>,
    /// Constraints beyond these (count).
    pub more: usize,
}

impl ExcludingConstraints {
    fn add(&mut self, by: &str, nodes: usize) {
        if let Some(known) = self.first.iter_mut().find(|known| known.by == by) {
            known.nodes += nodes;
        } else if self.first.len() < MAX_SHOWN_CONSTRAINTS {
            self.first.push(ExcludedBy { by: by.to_owned(), nodes });
        } else {
            self.more += 1;
        }
    }
}

/// The first taint of each class of a set that a pod does not tolerate, and the classes without one; `None` if the decision
/// may take no more looks.
fn taints_that_exclude_nodes(
    constraints: &NodeConstraintsOfPod<'_>,
    view: &NodeView,
    of: &ClassSet,
    deadline: &DecisionLimits<'_>,
) -> Option<(ExcludingConstraints, ClassSet)> {
    if !deadline.take_looks_for_reasons(of.count_ones(..).saturating_mul(LOOKS_PER_CLASS)) {
        return None;
    }
    let mut left = of.clone();
    let mut places: HashMap<&Taint, usize> = HashMap::new();
    let mut found: Vec<(&Taint, usize)> = Vec::new();
    for (number, class, nodes) in view.classes_with_node_counts(of) {
        let tolerates = |t: &Taint| constraints.tolerates_or_requests_resource_of_key(&t.key)(t);
        let Some(taint) = class.taints.iter().find(|taint| !tolerates(taint)) else { continue };
        left.remove(number);
        if nodes == 0 {
            continue;
        }
        let place = *places.entry(taint).or_insert(found.len());
        match found.get_mut(place) {
            Some((_, known)) => *known += nodes,
            None => found.push((taint, nodes)),
        }
    }
    let first = found.iter().take(MAX_SHOWN_CONSTRAINTS);
    let first = first.map(|(taint, nodes)| ExcludedBy { by: format!("{TAINT}{taint}"), nodes: *nodes });
    let more = found.len().saturating_sub(MAX_SHOWN_CONSTRAINTS);
    Some((ExcludingConstraints { first: first.collect(), more }, left))
}

/// The constraints that exclude nodes of a set; incomplete if the decision may take no more looks. Slower than
/// [`super::classes_pod_can_run_on`].
#[must_use]
pub fn constraints_that_exclude_nodes(
    constraints: &NodeConstraintsOfPod<'_>,
    view: &NodeView,
    of: &ClassSet,
    deadline: &DecisionLimits<'_>,
) -> ExcludingConstraints {
    let mut found = ExcludingConstraints::default();
    let mut left = of.clone();
    if constraints.node_name.is_none() {
        match taints_that_exclude_nodes(constraints, view, of, deadline) {
            Some(by_taints) => (found, left) = by_taints,
            None => return found,
        }
        if left.is_clear() {
            return found;
        }
    }
    let mut step = |left: &mut ClassSet, after: ClassSet, by: &str| {
        let mut gone = left.clone();
        gone.difference_with(&after);
        let nodes = view.count_nodes_of_classes(&gone);
        if nodes > 0 {
            found.add(by, nodes);
        }
        *left = after;
    };
    if let Some(name) = constraints.node_name {
        let mut after = left.clone();
        after.intersect_with(&class_of_named_node(name, view));
        step(&mut left, after, &format!("nodeName {}", crate::text::escaped_and_cut(name, 80)));
        return found;
    }
    let mut budget = LookBudget::for_reasons_shown_to_people(deadline);
    let mut narrow = |set: &ClassSet, requirement: &LabelRequirement<'_>| {
        if view.own_keys.contains_key(requirement.key) {
            keep_matching_classes_within_budget(
                view,
                set.clone(),
                [&[SingleNodeCondition::of(requirement)], &[]],
                &[],
                &mut budget,
            )
        } else {
            let mut after = set.clone();
            view.classes.remove_classes_not_satisfying(&mut after, *requirement);
            after
        }
    };
    for requirement in constraints.selector.iter().take_while(|_| !deadline.is_over()) {
        let after = narrow(&left, requirement);
        step(&mut left, after, &format!("nodeSelector {requirement}"));
    }
    let tolerated = || {
        view.classes
            .classes_with_tolerated_taints(|key| constraints.tolerates_or_requests_resource_of_key(key))
    };
    let mut fits = classes_pod_can_run_on_within_budget(
        tolerated,
        constraints,
        view,
        &mut LookBudget::for_reasons_shown_to_people(deadline),
    );
    fits.intersect_with(&left);
    if fits == left {
        return found;
    }
    let Some(terms) = &constraints.terms else {
        // Each holds for some node of a class, and no node has all of them.
        step(&mut left, fits, "its nodeSelector as a whole");
        return found;
    };
    let mut by = Vec::new();
    for term in terms.iter().take_while(|_| !deadline.is_over()) {
        // Of each term, the first requirement that nothing of the rest satisfies says enough.
        let mut rest = left.clone();
        let culprit = term.labels.iter().find(|requirement| {
            rest = narrow(&rest, requirement);
            rest.is_clear()
        });
        by.push(match (culprit, term.names.first()) {
            _ if term.void => "an empty term".to_owned(),
            (Some(requirement), _) => requirement.to_string(),
            (None, Some(name)) => name.to_string(),
            (None, None) => term.labels.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and "),
        });
    }
    let by = if by.is_empty() { "without terms".to_owned() } else { by.join(" or ") };
    step(&mut left, fits, &format!("affinity {by}"));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision_limits::NEVER;
    use crate::nodes::NodeBuilder;

    #[test]
    fn the_first_taints_are_shown_and_the_others_counted() {
        let mut index = NodeBuilder::default();
        let taints = MAX_SHOWN_CONSTRAINTS + 5;
        for i in 0..2 * taints {
            let taint = i % taints;
            let node = format!(
                r#"{{"metadata":{{"name":"n{i}"}},"spec":{{"taints":[{{"key":"t{taint}","effect":"NoSchedule"}}]}}}}"#
            );
            index.add_or_replace_node(&serde_json::from_str(&node).unwrap());
        }
        let view = index.rebuild_view_if_changed();
        let (constraints, all) = (NodeConstraintsOfPod::default(), view.classes().all());
        let ask = |deadline: &DecisionLimits<'_>| {
            constraints_that_exclude_nodes(&constraints, &view, all, deadline)
        };
        let found = ask(&NEVER);
        assert_eq!((found.first.len(), found.more), (MAX_SHOWN_CONSTRAINTS, 5));
        assert!(found.first.iter().all(|by| by.nodes == 2 && by.by.starts_with(TAINT)), "{found:?}");
        // Each class takes looks, and a decision without looks knows no reason.
        let limits = DecisionLimits::without_clock();
        let before = limits.looks_left().unwrap().1;
        assert_eq!(ask(&limits), found);
        let after = limits.looks_left().unwrap().1;
        assert_eq!(before - after, taints * LOOKS_PER_CLASS);
        assert!(limits.take_looks_for_reasons(after));
        assert_eq!(ask(&limits), ExcludingConstraints::default());
    }
}
