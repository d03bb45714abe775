//! FAB3xx: objects of the SR-IOV and NVIDIA network operators, and device plugin configurations.

mod component_versions;
mod device_id;
mod device_plugin_config;
mod device_plugin_texts;
mod host_device_network;
mod kinds;
mod known_keys;
mod network_fabric;
mod network_link;
mod network_names;
mod network_texts;
mod nic_cluster_policy;
mod nic_selector;
mod node_policy_cel;
mod nodes_in_common;
mod num_vfs;
mod nvidia_network_texts;
mod operator_namespace;
mod other_policies;
mod pf_names;
mod policy_defaults;
mod policy_nodes;
mod policy_overlap;
mod policy_pools;
mod policy_switch;
mod policy_vdpa;
mod pool_configs;
mod resource_name;
mod shared_network_master;
mod supported_nics;
mod vfio_with_rdma;

use super::Rule;
use kinds::has_bridge;
use kinds::{
    HOST_DEVICE_NETWORK, IB_NETWORK, IPOIB_NETWORK, MACVLAN_NETWORK, NETWORK, NODE_POLICY, OPERATOR_CONFIG,
    OVS_NETWORK, POOL_CONFIG,
};

/// Rules of the group, by id.
pub(super) static RULES: &[&dyn Rule] = &[
    &vfio_with_rdma::VfioWithRdma,
    &device_plugin_config::DevicePluginConfig,
    &policy_vdpa::PolicyVdpa,
    &nic_selector::NicSelectorFields,
    &policy_switch::PolicySwitch,
    &pf_names::PfNames,
    &resource_name::ResourceNameOfPolicy,
    &num_vfs::NumVfs,
    &device_id::DeviceId,
    &known_keys::PolicyKeys,
    &policy_defaults::InfiniBandWithoutRdma,
    &policy_defaults::PolicyPriority,
    &nic_selector::WideNicSelector,
    &operator_namespace::PolicyNamespace,
    &policy_nodes::PolicySelectsNothing,
    &policy_nodes::ExternalFunctions,
    &policy_nodes::LinkTypeChange,
    &policy_nodes::SmallMtu,
    &policy_overlap::PolicyOverlap,
    &policy_pools::PoolFlags,
    &policy_pools::MixedPool,
    &policy_overlap::ExternallyManagedByHalf,
    &pool_configs::PoolsInCommon,
    &policy_pools::MixedModels,
    &network_texts::NetworkTexts,
    &known_keys::NetworkKeys,
    &network_link::VlanFields,
    &network_fabric::WrongFabric,
    &network_names::SameDefinition,
    &network_texts::RdmaAfterIbSriov,
    &network_texts::DhcpOnInfiniBand,
    &operator_namespace::NetworkNamespace,
    &network_fabric::UnservedResource,
    &network_link::Rates,
    &network_link::LinkDown,
    &network_fabric::RoceWithoutAddress,
    &pool_configs::OperatorConfigName,
    &pool_configs::PoolFields,
    &device_plugin_config::DevicePluginPools,
    &device_plugin_config::OperatorRefuses,
    &nic_cluster_policy::NicPolicy,
    &host_device_network::HostDeviceNetwork,
    &shared_network_master::Master,
    &nvidia_network_texts::NetworkTexts,
    &component_versions::ComponentVersions,
];
