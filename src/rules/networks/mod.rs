//! FAB1xx: the networks annotation, NetworkAttachmentDefinitions and IPAM.

pub(super) mod annotation;
mod cni_configuration;
mod pod_networks;

use super::Rule;

/// Rules of the group, by id.
pub(super) static RULES: &[&dyn Rule] = &[
    &annotation::Unreadable,
    &annotation::HostNetwork,
    &cni_configuration::CniConfiguration,
    &pod_networks::PodNetworks,
];
