//! Questions about network and device objects. None of the answers allocates.

use super::Snapshot;
use crate::facts::{DeviceClaim, DeviceClass, Index, NetworkClass, ResourceFact};
use crate::multus::NetworkFact;

impl Snapshot {
    /// What is known of a network.
    #[must_use]
    pub fn network(&self, namespace: &str, name: &str) -> Option<&NetworkFact> {
        self.objects.facts.network(namespace, name)
    }
    /// A network's class by all that is known: its configuration, its resource, the nodes' interfaces.
    #[must_use]
    pub fn class_of<'a>(&'a self, network: &'a NetworkFact) -> NetworkClass<'a> {
        self.objects.facts.classify(network, &mut std::iter::empty())
    }
    /// Who serves an extended resource, and what its devices are.
    #[must_use]
    pub fn resource(&self, name: &str) -> Option<&ResourceFact> {
        self.objects.facts.resource(name)
    }
    /// A DeviceClass.
    #[must_use]
    pub fn device_class(&self, name: &str) -> Option<&DeviceClass> {
        self.objects.facts.device_class(name)
    }
    /// A ResourceClaim.
    #[must_use]
    pub fn claim(&self, namespace: &str, name: &str) -> Option<&DeviceClaim> {
        self.objects.facts.claim(namespace, name)
    }
    /// A ResourceClaimTemplate.
    #[must_use]
    pub fn claim_template(&self, namespace: &str, name: &str) -> Option<&DeviceClaim> {
        self.objects.facts.claim_template(namespace, name)
    }
    /// Facts of network and device objects that are asked for more rarely.
    #[must_use]
    pub fn facts(&self) -> &Index {
        &self.objects.facts
    }

    /// Whether every node that is known has a SriovNetworkNodeState: what they say together holds of all nodes then,
    /// and not only of those that the SR-IOV operator looks after.
    #[must_use]
    pub fn states_cover_nodes(&self) -> bool {
        self.nodes.len() <= self.facts().node_states().len()
    }
}
