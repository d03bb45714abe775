//! FAB1xx: the networks annotation, NetworkAttachmentDefinitions and IPAM.

mod absent;
mod address_pools;
pub(super) mod annotation;
mod attached;
mod capabilities;
mod cni_configuration;
mod default_network;
mod default_routes;
mod definition_names;
mod device;
mod duplicate_addresses;
mod gateways;
mod interfaces;
mod isolation;
mod keys;
pub(super) mod masters;
mod missing_addresses;
mod near_misses;
pub(super) mod network;
mod plugin_values;
mod pod_networks;
mod pool_values;
mod port_guid;
mod rdma_chain;
mod same_subnet;
mod spider_multus_config;

use super::Rule;

/// Rules of the group, by id.
pub(super) static RULES: &[&dyn Rule] = &[
    &annotation::Unreadable,
    &annotation::HostNetwork,
    &cni_configuration::CniConfiguration,
    &pod_networks::PodNetworks,
    &interfaces::Interfaces,
    &absent::Absent,
    &near_misses::NearMisses,
    &keys::Keys,
    &default_network::DefaultNetwork,
    &device::Device,
    &rdma_chain::RdmaChain,
    &plugin_values::PluginValues,
    &masters::Masters,
    &definition_names::DefinitionNames,
    &port_guid::PortGuid,
    &capabilities::Capabilities,
    &spider_multus_config::SpiderKeys,
    &duplicate_addresses::HostLocal,
    &duplicate_addresses::Fixed,
    &missing_addresses::MissingAddresses,
    &default_routes::DefaultRoutes,
    &same_subnet::SameSubnet,
    &gateways::Gateways,
    &address_pools::AddressPools,
    &pool_values::PoolValues,
    &isolation::Isolation,
];
