//! FAB3xx: objects of the SR-IOV and NVIDIA network operators, and device plugin configurations.

mod component_versions;
mod device_id;
mod device_plugin_config;
mod device_plugin_texts;
mod host_device_network;
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

use super::{ObjectContext, Rule};

/// Group and kind of an object.
type Name = (&'static str, &'static str);

const SRIOV: &str = "sriovnetwork.openshift.io";
const NVIDIA: &str = "mellanox.com";
const NODE_POLICY: Name = (SRIOV, "SriovNetworkNodePolicy");
const NETWORK: Name = (SRIOV, "SriovNetwork");
const IB_NETWORK: Name = (SRIOV, "SriovIBNetwork");
const OVS_NETWORK: Name = (SRIOV, "OVSNetwork");
const POOL_CONFIG: Name = (SRIOV, "SriovNetworkPoolConfig");
const OPERATOR_CONFIG: Name = (SRIOV, "SriovOperatorConfig");
const MACVLAN_NETWORK: Name = (NVIDIA, "MacvlanNetwork");
const IPOIB_NETWORK: Name = (NVIDIA, "IPoIBNetwork");
const HOST_DEVICE_NETWORK: Name = (NVIDIA, "HostDeviceNetwork");

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

/// Whether a SriovNetworkNodePolicy asks for a bridge (api/v1/helper.go, `IsEmpty`: one without `ovs` is none).
fn has_bridge(context: &ObjectContext<'_>) -> bool {
    context.value().and_then(|v| v.pointer("/spec/bridge/ovs")).is_some_and(|ovs| !ovs.is_null())
}
