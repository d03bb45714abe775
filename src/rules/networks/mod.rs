//! FAB1xx: the networks annotation, NetworkAttachmentDefinitions and IPAM.

mod absent;
pub(super) mod annotation;
mod cni_configuration;
mod default_network;
mod interfaces;
mod isolation;
mod keys;
mod near_misses;
mod pod_networks;

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
    &isolation::Isolation,
];
