//! FAB7xx: what concerns several pods, or the nodes for a pod: differences within a gang, placement, topology, capacity
//! and quota. Which profile follows from the nodes belongs to
//! `profiles`, and so does whether the pod may run on its profile's nodes (selectors, tolerations: FAB807, FAB808).

mod do_replica_types_make_one_world;
mod fab701_differing_variables;
mod fab702_differing_devices;
mod fab703_service_mesh_proxy;
mod fab704_shared_host_names;
mod fab705_gang_without_rdma;
mod fab706_annotations_on_workload;
mod fab707_claim_shared_by_pods;
mod fab708_kueue_admits_first;
mod fab720_resource_not_listed;
mod fab722_infiniband_and_ethernet;
mod fab723_driver_not_ready;
mod fab724_vfs_being_created;
mod fab725_more_than_a_node_has;
pub(super) mod node_classes_for_pod;

use crate::rules::rule_declaration::Rule;

/// Rules of the group, by id.
pub(super) static RULES: &[&Rule] = &[
    &fab701_differing_variables::RULE,
    &fab702_differing_devices::RULE,
    &fab703_service_mesh_proxy::RULE,
    &fab704_shared_host_names::RULE,
    &fab705_gang_without_rdma::RULE,
    &fab706_annotations_on_workload::RULE,
    &fab707_claim_shared_by_pods::RULE,
    &fab708_kueue_admits_first::RULE,
    &fab720_resource_not_listed::RULE,
    &fab722_infiniband_and_ethernet::RULE,
    &fab723_driver_not_ready::RULE,
    &fab724_vfs_being_created::RULE,
    &fab725_more_than_a_node_has::RULE,
];
