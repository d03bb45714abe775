//! Nodes with accelerators, by classes.

use super::facts_that_were_read::Facts;

/// Nodes that have accelerators.
pub(super) struct Nodes {
    /// All of them (count).
    pub(super) total: usize,
    /// Those that no profile selects (count).
    pub(super) without: usize,
    /// Names of some of those.
    pub(super) names: Vec<String>,
}

/// Most names that are given.
const NAMED: usize = 3;

pub(super) fn count_accelerator_nodes_without_profile(facts: &Facts) -> Nodes {
    let (view, snapshot) = (facts.snapshot.all_nodes(), &facts.snapshot);
    let accelerators = &snapshot.settings().accelerators;
    let mut bare = view.classes().empty_set();
    let (mut total, mut without) = (0, 0);
    for (number, class, nodes) in view.classes_with_node_counts(view.classes().all()) {
        if !class.resources.iter().any(|name| accelerators.contains(name)) {
            continue;
        }
        total += nodes;
        if snapshot.catalog().profile_set(snapshot.catalog().profile_set_of_class(number)).is_empty() {
            without += nodes;
            bare.insert(number);
        }
    }
    let names = view.first_node_names_of_classes(&bare, NAMED).into_iter().map(str::to_owned).collect();
    Nodes { total, without, names }
}
