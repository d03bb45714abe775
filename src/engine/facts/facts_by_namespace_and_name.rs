//! Facts that belong to one namespace. A lookup names the namespace; whose namespaces an answer may depend on is decided in
//! `snapshot`, which is the only one to ask here.

use super::extended_resource::ResourceFact;
use super::network_of_one_object::NetworkFromObject;
use super::networks_attached_by_claims::ClaimedNetworks;
use super::{ConfigMapTexts, DeviceClaim, TrainingRuntime};
use crate::multus::ResourceName;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Values by namespace, then by name.
pub(super) type ByNamespace<T> = HashMap<Arc<str>, HashMap<Arc<str>, Arc<T>>>;

/// Facts by namespace and name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct NamespacedFacts {
    pub(super) networks: ByNamespace<NetworkFromObject>,
    /// Networks by the last part of their resource's name; those without a resource by their interface.
    pub(super) over: BTreeMap<String, Vec<Arc<NetworkFromObject>>>,
    /// ConfigMaps with variables.
    pub(super) texts: ByNamespace<ConfigMapTexts>,
    /// By namespace, which is empty for ClusterTrainingRuntimes.
    pub(super) training_runtimes: ByNamespace<TrainingRuntime>,
    /// What dra-driver-sriov attaches.
    pub(super) claimed_networks: ClaimedNetworks,
    pub(super) claims: ByNamespace<DeviceClaim>,
    pub(super) claim_templates: ByNamespace<DeviceClaim>,
}

fn get<'a, T>(map: &'a ByNamespace<T>, namespace: &str, name: &str) -> Option<&'a T> {
    map.get(namespace)?.get(name).map(Arc::as_ref)
}

/// The networks of a namespace, among networks that are sorted by namespace.
fn networks_of_namespace<'a>(
    sorted: &'a [Arc<NetworkFromObject>],
    namespace: &str,
) -> &'a [Arc<NetworkFromObject>] {
    let start = sorted.partition_point(|network| *network.namespace < *namespace);
    let rest = sorted.get(start..).unwrap_or_default();
    rest.get(..rest.partition_point(|network| *network.namespace == *namespace)).unwrap_or_default()
}

impl NamespacedFacts {
    /// A network.
    pub(crate) fn network(&self, namespace: &str, name: &str) -> Option<&NetworkFromObject> {
        get(&self.networks, namespace, name)
    }

    /// Namespaces with networks (count).
    pub(crate) fn namespaces_with_networks(&self) -> usize {
        self.networks.len()
    }

    /// Namespaces with a network of this name, in no order.
    pub(crate) fn namespaces_of_network(&self, name: &str) -> impl Iterator<Item = &str> {
        self.networks.iter().filter(move |(_, named)| named.contains_key(name)).map(|(ns, _)| &**ns)
    }

    /// Networks that attach devices of a resource as an interface, by namespace and name: of all namespaces, or only of
    /// some. Those of other namespaces cost nothing: one resource has tens of thousands, where each namespace has its own.
    pub(crate) fn networks_attaching_resource<'a>(
        &'a self,
        fact: &'a ResourceFact,
        within: Option<BTreeSet<&'a str>>,
    ) -> impl Iterator<Item = &'a NetworkFromObject> {
        let suffix = match &fact.name {
            ResourceName::Full(name) => name.split_once('/').map_or("", |(_, suffix)| suffix),
            ResourceName::Suffix(suffix) => suffix,
        };
        let full = fact.name.full_if_known();
        let same = move |n: &&Arc<NetworkFromObject>| match (&n.fact.resource, full) {
            (Some(resource), Some(full)) => resource.matches(full),
            (Some(_), None) => true,
            (None, _) => false,
        };
        let over = |device: &str| {
            let all = self.over.get(device).map(Vec::as_slice).unwrap_or_default();
            match &within {
                None => vec![all],
                Some(namespaces) => {
                    namespaces.iter().map(|namespace| networks_of_namespace(all, namespace)).collect()
                }
            }
        };
        let by_resource = over(suffix).into_iter().flatten().filter(same);
        let over: Vec<_> = fact.interfaces.iter().flat_map(|interface| over(interface)).collect();
        let over = over.into_iter().flatten().filter(|n| n.fact.resource.is_none());
        by_resource.chain(over).map(Arc::as_ref)
    }

    /// A TrainingRuntime; a ClusterTrainingRuntime has no namespace.
    pub(crate) fn training_runtime(&self, namespace: &str, name: &str) -> Option<&TrainingRuntime> {
        get(&self.training_runtimes, namespace, name)
    }

    /// Whether dra-driver-sriov may attach a network, and give it its device.
    pub(crate) fn may_claim_attach_network(&self, namespace: &str, network: &str) -> bool {
        self.claimed_networks.may_driver_attach(namespace, network)
    }

    /// Variables and scripts of a ConfigMap.
    pub(crate) fn config_map_texts(&self, namespace: &str, name: &str) -> Option<&ConfigMapTexts> {
        get(&self.texts, namespace, name)
    }

    /// Whether any ConfigMap with variables is known in a namespace.
    pub(crate) fn has_config_maps_with_variables(&self, namespace: &str) -> bool {
        self.texts.contains_key(namespace)
    }

    /// A ResourceClaim.
    pub(crate) fn claim(&self, namespace: &str, name: &str) -> Option<&DeviceClaim> {
        get(&self.claims, namespace, name)
    }

    /// A ResourceClaimTemplate.
    pub(crate) fn claim_template(&self, namespace: &str, name: &str) -> Option<&DeviceClaim> {
        get(&self.claim_templates, namespace, name)
    }
}
