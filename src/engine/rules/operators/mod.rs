//! FAB3xx: objects of the SR-IOV and NVIDIA network operators, and device plugin configurations.

pub(super) mod device_plugin_configs_in_object;
mod do_selectors_share_nodes;
mod do_sriov_policies_overlap;
#[cfg(test)]
mod do_sriov_policies_overlap_tests;
mod fab301_vfio_with_rdma;
mod fab302_device_plugin_config;
mod fab303_vdpa_conflict;
mod fab304_nic_selector;
mod fab305_switchdev_conflict;
mod fab306_pf_names_range;
mod fab307_refused_resource_name;
mod fab308_num_vfs;
mod fab309_device_id;
mod fab310_unknown_policy_keys;
mod fab311_infiniband_without_rdma;
mod fab312_policy_without_priority;
mod fab313_wide_nic_selector;
mod fab314_policy_outside_operator_namespace;
mod fab315_policy_selects_nothing;
mod fab316_externally_managed_vfs;
mod fab317_link_type_change;
mod fab318_small_mtu;
mod fab325_overlapping_policies;
mod fab326_differing_pool_flags;
mod fab327_mixed_links_in_pool;
mod fab328_differing_externally_managed;
mod fab329_node_in_several_pools;
mod fab330_mixed_models_in_pool;
mod fab335_sriov_network_json;
mod fab336_unknown_network_keys;
mod fab337_vlan_fields;
mod fab338_wrong_link_type;
mod fab339_same_definition_twice;
mod fab340_rdma_after_ib_sriov;
mod fab341_dhcp_on_infiniband;
mod fab342_network_outside_operator_namespace;
mod fab343_unserved_resource;
mod fab344_tx_rates;
mod fab345_link_state_disable;
mod fab346_roce_network_without_ipam;
mod fab350_operator_config_name;
mod fab351_pool_config_fields;
mod fab355_device_plugin_empty_pool;
mod fab356_device_plugin_webhook_refusal;
mod fab357_nic_cluster_policy;
mod fab358_host_device_network;
mod fab359_shared_network_master;
mod fab360_nvidia_network_json;
mod fab361_component_versions;
mod fab365_unknown_keys;
mod fab366_refused_values;
mod fab367_unserved_version;
mod faults_in_device_plugin_config;
mod has_ovs_bridge;
mod nodes_and_nics_of_sriov_policy;
mod operator_namespace;
mod other_sriov_policies;
mod report_values_meta_plugins_refuse;
mod resource_of_sriov_network;
mod sriov_policies_of_resource;
mod sriov_policy_in_cel;
mod supported_nics;
mod texts_of_config_map;

use crate::rules::rule_declaration::Rule;

/// Rules of the group, by id.
pub(super) static RULES: &[&Rule] = &[
    &fab301_vfio_with_rdma::RULE,
    &fab302_device_plugin_config::RULE,
    &fab303_vdpa_conflict::RULE,
    &fab304_nic_selector::RULE,
    &fab305_switchdev_conflict::RULE,
    &fab306_pf_names_range::RULE,
    &fab307_refused_resource_name::RULE,
    &fab308_num_vfs::RULE,
    &fab309_device_id::RULE,
    &fab310_unknown_policy_keys::RULE,
    &fab311_infiniband_without_rdma::RULE,
    &fab312_policy_without_priority::RULE,
    &fab313_wide_nic_selector::RULE,
    &fab314_policy_outside_operator_namespace::RULE,
    &fab315_policy_selects_nothing::RULE,
    &fab316_externally_managed_vfs::RULE,
    &fab317_link_type_change::RULE,
    &fab318_small_mtu::RULE,
    &fab325_overlapping_policies::RULE,
    &fab326_differing_pool_flags::RULE,
    &fab327_mixed_links_in_pool::RULE,
    &fab328_differing_externally_managed::RULE,
    &fab329_node_in_several_pools::RULE,
    &fab330_mixed_models_in_pool::RULE,
    &fab335_sriov_network_json::RULE,
    &fab336_unknown_network_keys::RULE,
    &fab337_vlan_fields::RULE,
    &fab338_wrong_link_type::RULE,
    &fab339_same_definition_twice::RULE,
    &fab340_rdma_after_ib_sriov::RULE,
    &fab341_dhcp_on_infiniband::RULE,
    &fab342_network_outside_operator_namespace::RULE,
    &fab343_unserved_resource::RULE,
    &fab344_tx_rates::RULE,
    &fab345_link_state_disable::RULE,
    &fab346_roce_network_without_ipam::RULE,
    &fab350_operator_config_name::RULE,
    &fab351_pool_config_fields::RULE,
    &fab355_device_plugin_empty_pool::RULE,
    &fab356_device_plugin_webhook_refusal::RULE,
    &fab357_nic_cluster_policy::RULE,
    &fab358_host_device_network::RULE,
    &fab359_shared_network_master::RULE,
    &fab360_nvidia_network_json::RULE,
    &fab361_component_versions::RULE,
    &fab365_unknown_keys::RULE,
    &fab366_refused_values::RULE,
    &fab367_unserved_version::RULE,
];
