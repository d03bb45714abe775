//! Questions about network and device objects. A fact of a namespace counts only where the audience of the answer may see
//! that namespace.

use super::Snapshot;
use crate::facts::network_of_one_object::NetworkFromObject;
use crate::facts::{
    ConfigMapTexts, DeviceClaim, DeviceClass, FactKind, NamespacedFacts, ResolvedNetwork, ResourceFact,
    TrainingRuntime,
};
use crate::multus::subnet::Subnet;
use crate::multus::{LinkLayer, NetworkFact};

impl Snapshot {
    /// Known facts about a network.
    #[must_use]
    pub fn network(&self, namespace: &str, name: &str) -> Option<&NetworkFact> {
        self.facts_of_visible_namespace(namespace)?.network(namespace, name).map(|rendered| &rendered.fact)
    }
    /// Namespaces with networks (count).
    #[must_use]
    pub fn namespaces_with_networks(&self) -> usize {
        self.namespaced().namespaces_with_networks()
    }
    /// Namespaces that have a network with this name, in order. For people, not for decisions on the fast path.
    #[must_use]
    pub fn namespaces_of_network(&self, name: &str) -> Vec<&str> {
        let all = self.namespaced().namespaces_of_network(name);
        let mut found: Vec<&str> = all.filter(|namespace| self.sees(namespace)).collect();
        found.sort_unstable();
        found
    }
    /// Networks that attach devices of a resource as an interface, by namespace and name.
    pub fn networks_attaching_resource<'a>(
        &'a self,
        fact: &'a ResourceFact,
    ) -> impl Iterator<Item = &'a NetworkFromObject> {
        self.namespaced().networks_attaching_resource(fact, self.visible_namespaces())
    }
    /// Whether dra-driver-sriov may attach a network, and give it its device.
    #[must_use]
    pub fn may_dra_driver_attach_network(&self, namespace: &str, network: &str) -> bool {
        self.facts_of_visible_namespace(namespace)
            .is_some_and(|facts| facts.may_claim_attach_network(namespace, network))
    }
    /// Variables and scripts of a ConfigMap.
    #[must_use]
    pub fn config_map_texts(&self, namespace: &str, name: &str) -> Option<&ConfigMapTexts> {
        self.facts_of_visible_namespace(namespace)?.config_map_texts(namespace, name)
    }
    /// Whether any ConfigMap with variables is known in a namespace.
    #[must_use]
    pub fn has_config_map_texts(&self, namespace: &str) -> bool {
        self.facts_of_visible_namespace(namespace)
            .is_some_and(|facts| facts.has_config_maps_with_variables(namespace))
    }
    /// A TrainingRuntime of a namespace; without one, a ClusterTrainingRuntime.
    #[must_use]
    pub fn training_runtime(&self, namespace: Option<&str>, name: &str) -> Option<&TrainingRuntime> {
        let namespace = namespace.unwrap_or_default();
        self.facts_of_visible_namespace(namespace)?.training_runtime(namespace, name)
    }
    /// A network's class by all that is known: its configuration, its resource, the nodes' interfaces.
    #[must_use]
    pub fn network_class_by_all_facts<'a>(&'a self, network: &'a NetworkFact) -> ResolvedNetwork<'a> {
        self.cluster_facts_for_audience().resolve_link_and_device_of_network(
            network,
            true,
            &mut std::iter::empty(),
        )
    }
    /// The class of a pod's network. A definition that the pod's author may have written gives no facts about the
    /// interface that it names: by a name of their choice, they could ask for the interfaces of nodes one by one. Only the
    /// shared pool over the interface remains (docs/adr/0021).
    #[must_use]
    pub fn network_class_for_pod<'a>(
        &'a self,
        namespace: &str,
        network: &'a NetworkFact,
        asked: &mut dyn Iterator<Item = &str>,
    ) -> ResolvedNetwork<'a> {
        self.cluster_facts_for_audience().resolve_link_and_device_of_network(
            network,
            self.may_use_interface_facts_of_networks_in(namespace),
            asked,
        )
    }
    /// Who serves an extended resource, and what its devices are.
    #[must_use]
    pub fn resource(&self, name: &str) -> Option<&ResourceFact> {
        self.cluster_facts_for_audience().resource_by_full_name_or_suffix(name)
    }
    /// A DeviceClass.
    #[must_use]
    pub fn device_class(&self, name: &str) -> Option<&DeviceClass> {
        self.cluster_facts_for_audience().device_class(name)
    }
    /// A ResourceClaim.
    #[must_use]
    pub fn claim(&self, namespace: &str, name: &str) -> Option<&DeviceClaim> {
        self.facts_of_visible_namespace(namespace)?.claim(namespace, name)
    }
    /// A ResourceClaimTemplate.
    #[must_use]
    pub fn claim_template(&self, namespace: &str, name: &str) -> Option<&DeviceClaim> {
        self.facts_of_visible_namespace(namespace)?.claim_template(namespace, name)
    }

    /// Whether the webhook does not keep some claims of a namespace, or some templates of claims, because they use too much memory.
    #[must_use]
    pub fn leaves_out_claims(&self, namespace: &str, templates: bool) -> bool {
        let kind = if templates { FactKind::ResourceClaimTemplate } else { FactKind::ResourceClaim };
        self.known.objects.leaves_out(kind, namespace)
    }

    fn namespaced(&self) -> &NamespacedFacts {
        &self.known.objects.facts.namespaced
    }
    /// The facts of a namespace, where they may count.
    fn facts_of_visible_namespace(&self, namespace: &str) -> Option<&NamespacedFacts> {
        self.sees(namespace).then(|| self.namespaced())
    }

    /// Subnets from which an attachment may get its address; none where it does not matter that two attachments share one:
    /// on InfiniBand addresses are looked up once, and RDMA goes by LID and GID. Only operators learn the subnets of pools.
    #[must_use]
    pub fn subnets_that_must_not_overlap<'a>(
        &'a self,
        namespace: &str,
        network: &'a NetworkFact,
    ) -> &'a [Subnet] {
        let Some(ipam) = network.addressing.ipam.as_deref().filter(|_| !network.addressing.keeps_apart)
        else {
            return &[];
        };
        if self.network_class_for_pod(namespace, network, &mut std::iter::empty()).link
            != Some(LinkLayer::Ethernet)
        {
            return &[];
        }
        match &ipam.pool {
            Some(_) if self.is_not_for_operator() => &[],
            Some(pool) => self
                .cluster_facts_for_audience()
                .address_pool(pool)
                .map(|p| p.subnets.as_slice())
                .unwrap_or_default(),
            None => &ipam.subnets,
        }
    }

    /// Whether every node that is known has a SriovNetworkNodeState: what they say together holds of all nodes then,
    /// and not only of those that the SR-IOV operator looks after.
    #[must_use]
    pub fn node_states_cover_all_nodes(&self) -> bool {
        self.known.nodes.len() <= self.cluster_facts_for_audience().node_states().len()
    }
}
