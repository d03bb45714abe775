//! Networks that dra-driver-sriov attaches by itself. In mode STANDALONE, its default, it writes the address of the
//! allocated function as `deviceID` into the configuration of the network that a claim names, and calls the plugin
//! without Multus (k8snetworkplumbingwg/dra-driver-sriov README.md, pkg/devicestate/state.go).

use super::device_class::SRIOV_DRIVER;
use super::{DeviceClaim, DeviceClass};
use std::collections::HashSet;

/// Known facts about the driver and its networks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ClaimedNetworks {
    /// Whether the cluster has the driver: its DeviceClass, or devices that it publishes.
    driver: bool,
    /// Namespace and name of the networks that claims of the same namespace name. Claims of another namespace change no
    /// answer about a network.
    named: HashSet<(String, String)>,
}

impl ClaimedNetworks {
    pub(super) fn note_driver_of_class(&mut self, name: &str, class: &DeviceClass) {
        self.driver |= name == SRIOV_DRIVER || class.driver.as_deref() == Some(SRIOV_DRIVER);
    }

    pub(super) fn note_if_sriov_driver(&mut self, name: &str) {
        self.driver |= name == SRIOV_DRIVER;
    }

    pub(super) fn note_networks_of_own_namespace(&mut self, namespace: &str, claim: &DeviceClaim) {
        for function in &claim.functions {
            let own = function.namespace.as_deref().is_none_or(|other| other == namespace);
            if let Some(network) = function.network.clone().filter(|_| own) {
                self.named.insert((namespace.to_owned(), network));
            }
        }
    }

    /// Whether the driver may attach a network, and give it its device.
    pub(super) fn may_driver_attach(&self, namespace: &str, network: &str) -> bool {
        self.driver || self.named.contains(&(namespace.to_owned(), network.to_owned()))
    }
}
