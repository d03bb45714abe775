//! The nodes that profiles select, looked up by the labels in the selectors.

use super::limit_of_comparisons::why_too_many_comparisons;
use super::node_as_shown::{INSTANCE_TYPE, Node};
use super::nodes_by_label::NodesByLabel;
use crate::profile::Profile;
use crate::profile::schema::Operator;
use std::collections::BTreeSet;

/// A condition that only nodes with one of some values of a label meet.
type Condition<'p> = (&'p str, Vec<&'p str>);

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
///
/// # Errors
/// A text if there are too many profiles and nodes to compare.
pub(super) fn nodes_that_profiles_select<'a>(
    nodes: &'a [Node],
    profiles: &[&Profile],
) -> Result<Vec<Vec<&'a Node>>, String> {
    let all: Vec<&Node> = nodes.iter().collect();
    let conditions: Vec<Vec<Condition<'_>>> =
        profiles.iter().map(|profile| label_conditions_of_profile(profile)).collect();
    let keys: BTreeSet<&str> = conditions.iter().flatten().map(|(key, _)| *key).collect();
    let by_label = NodesByLabel::new(&all, &keys);
    // The nodes that each profile is compared with: those with the rarest label of its conditions, or all.
    let candidates: Vec<Candidates<'_>> = profiles
        .iter()
        .zip(&conditions)
        .map(|(profile, conditions)| {
            let count = |(key, values): &&Condition<'_>| by_label.count_nodes_with_label(key, values);
            match conditions.iter().min_by_key(count) {
                _ if !profile.has_node_requirements() => Candidates::None,
                Some(rarest) => Candidates::WithLabel(rarest),
                None => Candidates::All,
            }
        })
        .collect();
    let comparisons = candidates.iter().map(|candidates| match candidates {
        Candidates::None => 0,
        Candidates::WithLabel((key, values)) => by_label.count_nodes_with_label(key, values),
        Candidates::All => nodes.len(),
    });
    let comparisons = comparisons.fold(0, usize::saturating_add);
    if let Some(why) = why_too_many_comparisons(comparisons, profiles.len(), "profiles") {
        return Err(why);
    }
    let selected = |(profile, candidates): (&&Profile, Candidates<'_>)| -> Vec<&'a Node> {
        let mut found = match candidates {
            Candidates::None => Vec::new(),
            Candidates::WithLabel((key, values)) => by_label.nodes_with_label(key, values),
            Candidates::All => (0..nodes.len()).collect(),
        };
        found.sort_unstable();
        let found = found.into_iter().filter_map(|at| nodes.get(at));
        found.filter(|node| does_profile_select_node(profile, node)).collect()
    };
    Ok(profiles.iter().zip(candidates).map(selected).collect())
}

/// The nodes among which a profile finds its own.
enum Candidates<'c> {
    None,
    WithLabel(&'c Condition<'c>),
    All,
}
