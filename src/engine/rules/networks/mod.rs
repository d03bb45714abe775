//! FAB1xx: the networks annotation, NetworkAttachmentDefinitions and IPAM. Rules on objects from which an operator
//! renders a network are in `operators`. Rules on the devices of a network are in `resources`.

pub(super) mod annotation_in_cel;
mod attachments_with_facts;
mod fab101_unreadable_annotation;
mod fab102_host_network_with_networks;
mod fab103_cni_configuration;
mod fab104_unservable_network;
mod fab105_duplicate_interface_names;
mod fab106_absent_network;
mod fab107_near_miss_annotations;
mod fab108_ignored_annotation_keys;
mod fab109_default_network_annotation;
mod fab110_plugin_without_device;
mod fab111_rdma_plugin_position;
mod fab112_refused_plugin_values;
mod fab113_master_interface;
mod fab114_unnameable_network;
mod fab115_host_device_infiniband_vf;
mod fab116_unused_requested_address;
mod fab117_spider_multus_config_keys;
mod fab130_host_local_ipam;
mod fab131_fixed_address_for_several_pods;
mod fab132_roce_without_address;
mod fab133_default_route_over_network;
mod fab134_same_subnet;
mod fab135_several_default_routes;
mod fab136_pool_unfit_for_network;
mod fab137_invalid_address_pool;
mod fab138_rails_of_profile;
mod fab150_network_of_other_namespace;
pub(super) mod ipam_of_network_object;
pub(super) mod master_interface;

use crate::rules::rule_declaration::Rule;

/// Rules of the group, by id.
pub(super) static RULES: &[&Rule] = &[
    &fab101_unreadable_annotation::RULE,
    &fab102_host_network_with_networks::RULE,
    &fab103_cni_configuration::RULE,
    &fab104_unservable_network::RULE,
    &fab105_duplicate_interface_names::RULE,
    &fab106_absent_network::RULE,
    &fab107_near_miss_annotations::RULE,
    &fab108_ignored_annotation_keys::RULE,
    &fab109_default_network_annotation::RULE,
    &fab110_plugin_without_device::RULE,
    &fab111_rdma_plugin_position::RULE,
    &fab112_refused_plugin_values::RULE,
    &fab113_master_interface::RULE,
    &fab114_unnameable_network::RULE,
    &fab115_host_device_infiniband_vf::RULE,
    &fab116_unused_requested_address::RULE,
    &fab117_spider_multus_config_keys::RULE,
    &fab130_host_local_ipam::RULE,
    &fab131_fixed_address_for_several_pods::RULE,
    &fab132_roce_without_address::RULE,
    &fab133_default_route_over_network::RULE,
    &fab134_same_subnet::RULE,
    &fab135_several_default_routes::RULE,
    &fab136_pool_unfit_for_network::RULE,
    &fab137_invalid_address_pool::RULE,
    &fab138_rails_of_profile::RULE,
    &fab150_network_of_other_namespace::RULE,
];
