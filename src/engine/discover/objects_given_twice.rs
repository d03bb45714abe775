//! Objects that files contain more than once. Copies of different times, or of two clusters, contradict each other; which
//! one is current is not in them, so no value that depends on them is observed.

use super::contents_of_one_object::Twice;
use super::fields_with_origin::{DraftOrWithheld, withheld};
use super::groups_of_nodes::{EFA, Group};
use super::objects_of_cluster::Sources;
use super::signs_of_nics::{GKE_NETWORKS, is_gke_address, is_resource_without_training_nics};
use crate::pod::AcceleratorNames;

/// No profile for nodes that depend on an object with two contents.
pub(super) fn unknown_if_objects_are_given_twice(
    group: &Group<'_>,
    sources: &Sources,
) -> Option<DraftOrWithheld> {
    let known = AcceleratorNames::default();
    let lists = |wanted: &dyn Fn(&str) -> bool| {
        group.nodes.iter().flat_map(|node| node.resources()).any(|name| !known.contains(name) && wanted(name))
    };
    // As in the choice of a fabric: addresses of a network are not its NICs.
    let gke = |name: &str| name.starts_with(GKE_NETWORKS) && !is_gke_address(name);
    let Twice { of_nodes, attached: of_attached, gke: of_gke } = &sources.first_twice;
    let nodes = group.nodes.iter().filter_map(|node| of_nodes.get(&node.name));
    let attached = of_attached
        .iter()
        .filter(|_| lists(&|name| name != EFA && !gke(name) && !is_resource_without_training_nics(name)));
    let object = nodes.chain(attached).chain(of_gke.iter().filter(|_| lists(&gke))).min()?;
    Some(withheld(
        format!("{object} is in the files more than once, with different content"),
        "Which content is current? Remove the outdated object from the files.",
    ))
}
