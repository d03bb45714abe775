//! From a group of nodes to its fabric: the first sign of a fabric decides which reader it gets.

use super::fields_with_origin::{DraftOrWithheld, withheld};
use super::groups_of_nodes::{EFA, Group};
use super::node_as_shown::REPLICAS;
use super::objects_of_cluster::Sources;
use super::signs_of_nics::GKE_NETWORKS;
use super::{
    claimed_nics, device_plugin_resources, efa_fabric, gke_fabric, nodes_without_nic_resource_or_claim,
    objects_given_twice,
};

/// Most accelerators per node in a profile.
const MAX_ACCELERATORS: u64 = 64;

/// The fabric of a group.
pub(super) fn fabric_of_group(group: &Group<'_>, sources: &Sources) -> DraftOrWithheld {
    if let Some(outcome) = objects_given_twice::unknown_if_objects_are_given_twice(group, sources) {
        return outcome;
    }
    if let Some((node, sign)) = group.nodes.iter().find_map(|node| Some((node, node.sign_of_mig()?))) {
        return withheld(
            format!("{sign} of node {} shows that the node's GPUs are split into MIG devices", node.name),
            "Do jobs that need a fabric run on MIG devices? A profile counts whole GPUs. If only jobs without a fabric run on these nodes, the nodes need no profile. Move whole GPUs to nodes without MIG devices.",
        );
    }
    let Some((name, accelerators)) = &group.accelerators else {
        return withheld(
            "none of these nodes lists whole accelerators",
            "Does the device plugin of the accelerators run on these nodes?",
        );
    };
    if accelerators.units == 0 {
        return withheld(
            format!("these nodes list no units of {name}"),
            "Does the device plugin of the accelerators run on these nodes?",
        );
    }
    if !accelerators.do_most_nodes_agree() {
        let numbers = accelerators.disagreement();
        return withheld(
            format!("the nodes have different numbers of {name}: {numbers}"),
            "How many accelerators does a node have?",
        );
    }
    // A resource that only a minority lists says nothing about the group.
    for (name, count) in &group.resources {
        if !count.do_most_nodes_agree() {
            return withheld(
                format!(
                    "the nodes have different numbers of {name} ({}), and no number applies to more than half of the nodes",
                    count.disagreement()
                ),
                format!(
                    "How many units of {name} does a node have? Do the device plugin and the driver of this resource run?"
                ),
            );
        }
    }
    if let Some(node) = group.nodes.iter().find(|node| node.shares_accelerators()) {
        return withheld(
            format!("label {REPLICAS} of node {} shows that pods share the node's GPUs", node.name),
            "How many GPUs does a node have? On these nodes, a unit of nvidia.com/gpu is only a time slice of a GPU. Write a profile with acceleratorsPerNode by hand.",
        );
    }
    if accelerators.units > MAX_ACCELERATORS {
        return withheld(
            format!(
                "{} units of {name} are more than the accelerators that a node can have",
                accelerators.units
            ),
            "How many accelerators does a node have?",
        );
    }
    let accelerators = accelerators.units;
    if group.resources.contains_key(EFA) {
        return efa_fabric::fabric_of_efa_nodes(group, accelerators);
    }
    if group.resources.keys().any(|name| name.starts_with(GKE_NETWORKS)) {
        return gke_fabric::fabric_of_gke_nodes(group, accelerators, sources);
    }
    if !group.resources.is_empty() {
        return device_plugin_resources::fabric_of_device_plugin_resources(group, accelerators, sources);
    }
    if !group.claims.is_empty() {
        return claimed_nics::fabric_of_claimed_nics(group);
    }
    nodes_without_nic_resource_or_claim::outcome_without_nic_resources(group, sources)
}
