//! Questions about network and device objects. None of the answers allocates.

use super::Snapshot;
use crate::facts::{DeviceClaim, DeviceClass, Index, NetworkClass, ResourceFact};
use crate::multus::subnet::Subnet;
use crate::multus::{LinkLayer, NetworkFact};

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

    /// Subnets from which an attachment may get its address; none where it does not matter that two attachments share one:
    /// on InfiniBand addresses are looked up once, and RDMA goes by LID and GID.
    #[must_use]
    pub fn subnets_of<'a>(&'a self, network: &'a NetworkFact) -> &'a [Subnet] {
        let Some(ipam) = network.addressing.ipam.as_deref().filter(|_| !network.addressing.keeps_apart)
        else {
            return &[];
        };
        if self.class_of(network).link != Some(LinkLayer::Ethernet) {
            return &[];
        }
        match &ipam.pool {
            Some(pool) => self.facts().address_pool(pool).map(|p| p.subnets.as_slice()).unwrap_or_default(),
            None => &ipam.subnets,
        }
    }

    /// Whether every node that is known has a SriovNetworkNodeState: what they say together holds of all nodes then,
    /// and not only of those that the SR-IOV operator looks after.
    #[must_use]
    pub fn states_cover_nodes(&self) -> bool {
        self.nodes.len() <= self.facts().node_states().len()
    }
}
