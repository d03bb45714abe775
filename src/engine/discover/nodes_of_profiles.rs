//! The nodes that profiles select, looked up by the labels in the selectors.

use super::limit_of_comparisons::Comparisons;
use super::node_as_shown::{INSTANCE_TYPE, Node};
use super::nodes_by_label::NodesByLabel;
use crate::profile::Profile;
use crate::profile::schema::Operator;
use std::collections::BTreeSet;

/// A condition that only nodes with one of some values of a label meet.
type Condition<'p> = (&'p str, Vec<&'p str>);

/// What a profile and a node count for: most selectors have several labels.
const COMPARISONS_OF_PROFILE: usize = 16;

/// The conditions of a profile by which its nodes can be looked up.
fn label_conditions_of_profile(profile: &Profile) -> Vec<Condition<'_>> {
    let mut found: Vec<Condition<'_>> = Vec::new();
    if let Some(selector) = &profile.node_selector {
        found.extend(selector.match_labels.iter().map(|(key, value)| (key.as_str(), vec![value.as_str()])));
        for one in selector.match_expressions.iter().filter(|one| one.operator == Operator::In) {
            let values: BTreeSet<&str> = one.values.iter().map(String::as_str).collect();
            found.push((&one.key, values.into_iter().collect()));
        }
    }
    if !profile.instance_types.is_empty() {
        let types: BTreeSet<&str> = profile.instance_types.iter().map(String::as_str).collect();
        found.push((INSTANCE_TYPE, types.into_iter().collect()));
    }
    found
}

/// Whether a profile selects a node.
fn does_profile_select_node(profile: &Profile, node: &Node) -> bool {
    let by_selector = profile.node_selector.as_ref().is_none_or(|selector| selector.matches(&node.labels));
    let of = node.labels.get(INSTANCE_TYPE);
    let by_type = profile.instance_types.is_empty()
        || of.is_some_and(|of| profile.instance_types.iter().any(|known| known == of));
    by_selector && by_type
}

/// For each profile the nodes with accelerators that it selects, in their order. A profile without conditions on nodes
/// selects none.
pub(super) fn nodes_that_profiles_select<'a>(
    nodes: &'a [Node],
    profiles: &[&Profile],
    comparisons: &Comparisons,
) -> Vec<Vec<&'a Node>> {
    let all: Vec<&Node> = nodes.iter().collect();
    let conditions: Vec<Vec<Condition<'_>>> =
        profiles.iter().map(|profile| label_conditions_of_profile(profile)).collect();
    let keys: BTreeSet<&str> = conditions.iter().flatten().map(|(key, _)| *key).collect();
    let by_label = NodesByLabel::new(&all, &keys);
    let of = |(profile, conditions): (&&Profile, &Vec<Condition<'_>>)| -> Vec<&'a Node> {
        if !profile.has_node_requirements() {
            return Vec::new();
        }
        let rarest =
            conditions.iter().min_by_key(|(key, values)| by_label.count_nodes_with_label(key, values));
        let candidates =
            rarest.map_or(nodes.len(), |(key, values)| by_label.count_nodes_with_label(key, values));
        if !comparisons.count(candidates.saturating_mul(COMPARISONS_OF_PROFILE)) {
            return Vec::new();
        }
        let Some((key, values)) = rarest else {
            return nodes.iter().filter(|node| does_profile_select_node(profile, node)).collect();
        };
        let mut found = by_label.nodes_with_label(key, values);
        found.sort_unstable();
        found
            .into_iter()
            .filter_map(|at| nodes.get(at))
            .filter(|node| does_profile_select_node(profile, node))
            .collect()
    };
    profiles.iter().zip(&conditions).map(of).collect()
}
