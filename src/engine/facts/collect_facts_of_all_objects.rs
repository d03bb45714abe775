//! Combines facts: first one object at a time, then the conclusions.

use super::extended_resource::{ResourceFact, ResourceProvider};
use super::facts_by_namespace_and_name::{ByNamespace, NamespacedFacts};
use super::facts_from_all_nodes::{InterfaceOnAllNodes, ResourceOnAllNodes};
use super::facts_of_cluster::{ClusterFacts, NodesWithSameNics, RenderedFrom};
use super::network_of_one_object::NetworkFromObject;
use super::sriov_policies_to_compare::SriovPoliciesToCompare;
use super::{
    AddressPool, ConfigMapTexts, DeviceClaim, DeviceClass, DevicesInResourceSlice, FactKind, NicPolicy,
    SriovNodePolicy, SriovNodeState, SriovOperatorConfig, SriovPoolConfig, TrainingRuntime, device_class,
};
use crate::multus::ResourceName;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

fn insert_by_namespace<T>(map: &mut ByNamespace<T>, namespace: &Arc<str>, name: &Arc<str>, value: Arc<T>) {
    map.entry(Arc::clone(namespace)).or_default().insert(Arc::clone(name), value);
}

/// Adds a resource under a key, merged with the facts already there.
fn insert_or_merge_resource(map: &mut HashMap<String, ResourceFact>, key: &str, fact: ResourceFact) {
    match map.get_mut(key) {
        Some(known) => known.merge_with_unknown_where_differing(&fact),
        None => {
            map.insert(key.to_owned(), fact);
        }
    }
}

/// The facts of all network and device objects.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FactsOfAllObjects {
    /// Facts about the whole cluster.
    pub(crate) index: ClusterFacts,
    /// Facts of single namespaces.
    pub(crate) namespaced: NamespacedFacts,
}

/// Of two entries under one name the last counts: the caller knows the order.
impl FactsOfAllObjects {
    pub(crate) fn add_network(&mut self, network: &Arc<NetworkFromObject>) {
        let (namespace, name) = (network.namespace.as_str().into(), network.name.as_str().into());
        insert_by_namespace(&mut self.namespaced.networks, &namespace, &name, Arc::clone(network));
    }

    /// Records which object a definition is rendered from.
    pub(crate) fn add_object_network_is_rendered_from(
        &mut self,
        kind: FactKind,
        namespace: &str,
        name: &str,
        network: &NetworkFromObject,
    ) {
        let target = (network.namespace.clone(), network.name.clone());
        let origin = RenderedFrom { kind, namespace: namespace.to_owned(), name: name.to_owned() };
        self.index.origins.entry(target).or_default().push(origin);
    }

    pub(crate) fn add_pool_config(&mut self, namespace: &str, name: &str, pool: &Arc<SriovPoolConfig>) {
        self.index.pool_configs.insert((namespace.to_owned(), name.to_owned()), Arc::clone(pool));
    }

    pub(crate) fn add_operator_config(&mut self, namespace: &str, config: &Arc<SriovOperatorConfig>) {
        self.index.operator_configs.insert(namespace.to_owned(), Arc::clone(config));
    }

    pub(crate) fn add_node_policy(&mut self, namespace: &str, name: &str, policy: &Arc<SriovNodePolicy>) {
        self.index.node_policies.insert((namespace.to_owned(), name.to_owned()), Arc::clone(policy));
    }

    pub(crate) fn add_node_state(&mut self, node: &str, state: &Arc<SriovNodeState>) {
        self.index.node_states.insert(node.to_owned(), Arc::clone(state));
    }

    pub(crate) fn add_resources_and_driver_of_nic_policy(&mut self, policy: &NicPolicy) {
        self.index.ofed_everywhere |= policy.ofed_everywhere;
        self.add_resources_of_device_plugins(&policy.pools);
    }

    pub(crate) fn add_resources_of_device_plugins(&mut self, pools: &[ResourceFact]) {
        for pool in pools {
            if let ResourceName::Full(name) = &pool.name {
                insert_or_merge_resource(&mut self.index.resources, name, pool.clone());
            }
        }
    }

    pub(crate) fn add_address_pool_or_mark_conflict(&mut self, name: &str, pool: &Arc<AddressPool>) {
        let pools = self.index.address_pools.entry(pool.cidr).or_default();
        let known = pools.entry(name.to_owned()).or_insert_with(|| Some(Arc::clone(pool)));
        if known.as_ref() != Some(pool) {
            *known = None;
        }
    }

    pub(crate) fn add_config_map_texts(
        &mut self,
        namespace: &Arc<str>,
        name: &Arc<str>,
        texts: &Arc<ConfigMapTexts>,
    ) {
        insert_by_namespace(&mut self.namespaced.texts, namespace, name, Arc::clone(texts));
    }

    pub(crate) fn add_training_runtime(
        &mut self,
        namespace: &Arc<str>,
        name: &Arc<str>,
        runtime: &Arc<TrainingRuntime>,
    ) {
        insert_by_namespace(&mut self.namespaced.training_runtimes, namespace, name, Arc::clone(runtime));
    }

    pub(crate) fn add_device_class_and_its_resources(&mut self, name: &str, class: &Arc<DeviceClass>) {
        let implicit = format!("{}/{name}", device_class::IMPLICIT_RESOURCE_DOMAIN);
        for resource in class.extended_resource.iter().chain([&implicit]) {
            let fact = ResourceFact {
                name: ResourceName::Full(resource.clone()),
                server: ResourceProvider::DeviceClass,
                link: None,
                rdma: None,
                shared: None,
                per_nic: None,
                interfaces: Vec::new(),
                vendor: None,
                origins: vec![format!("DeviceClass {name}").into()],
            };
            insert_or_merge_resource(&mut self.index.resources, resource, fact);
            self.index.classes_behind.insert(resource.clone(), name.to_owned());
        }
        self.namespaced.claimed_networks.note_driver_of_class(name, class);
        self.index.device_classes.insert(name.to_owned(), Arc::clone(class));
    }

    pub(crate) fn add_claim_and_networks_it_attaches(
        &mut self,
        namespace: &Arc<str>,
        name: &Arc<str>,
        claim: &Arc<DeviceClaim>,
    ) {
        self.namespaced.claimed_networks.note_networks_of_own_namespace(namespace, claim);
        insert_by_namespace(&mut self.namespaced.claims, namespace, name, Arc::clone(claim));
    }

    pub(crate) fn add_claim_template_and_networks_it_attaches(
        &mut self,
        namespace: &Arc<str>,
        name: &Arc<str>,
        claim: &Arc<DeviceClaim>,
    ) {
        self.namespaced.claimed_networks.note_networks_of_own_namespace(namespace, claim);
        insert_by_namespace(&mut self.namespaced.claim_templates, namespace, name, Arc::clone(claim));
    }

    pub(crate) fn note_sriov_driver_and_add_slice_unless_outdated(&mut self, slice: &DevicesInResourceSlice) {
        self.namespaced.claimed_networks.note_if_sriov_driver(&slice.driver);
        let pools = self.index.pools.entry(slice.driver.clone()).or_default();
        match pools.get_mut(&slice.pool) {
            Some((generation, _)) if *generation > slice.generation => {}
            Some((generation, pool)) if *generation == slice.generation => {
                pool.add_devices_of_slice(&slice.devices)
            }
            _ => {
                pools.insert(slice.pool.clone(), (slice.generation, slice.devices.clone()));
            }
        }
    }

    /// Draws the conclusions, once all facts are added.
    pub(crate) fn build_lookups_after_all_added(&mut self) {
        self.index.group_nodes_with_same_nics();
        self.index.derive_facts_from_policies_and_node_states();
        self.index.index_policies_to_compare();
        self.index.index_shared_pools_by_interface();
        self.index.index_suffixes_of_full_names();
        let NamespacedFacts { networks, over: by_device, .. } = &mut self.namespaced;
        for network in networks.values().flat_map(HashMap::values) {
            let over = match (&network.fact.resource, &network.fact.class.interface) {
                (Some(ResourceName::Full(name)), _) => name.split_once('/').map(|(_, suffix)| suffix),
                (Some(ResourceName::Suffix(suffix)), _) => Some(suffix.as_str()),
                (None, Some(interface)) => Some(interface.as_str()),
                (None, None) => None,
            };
            if let Some(over) = over {
                by_device.entry(over.to_owned()).or_default().push(Arc::clone(network));
            }
        }
        // Maps have no order, but answers need one.
        for networks in by_device.values_mut() {
            networks.sort_unstable_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
        }
    }
}

impl ClusterFacts {
    /// Finds the pool of shared RDMA devices over each interface.
    fn index_shared_pools_by_interface(&mut self) {
        self.pool_over.clear();
        for (resource, fact) in self.resources.iter().filter(|(_, fact)| fact.shared == Some(true)) {
            for interface in &fact.interfaces {
                let only = self.pool_over.entry(interface.clone()).or_insert_with(|| Some(resource.clone()));
                if only.as_ref() != Some(resource) {
                    *only = None;
                }
            }
        }
    }

    fn index_suffixes_of_full_names(&mut self) {
        let suffixes = self.resources.keys().filter_map(|full| full.split_once('/'));
        self.suffixes_of_full_names = suffixes.map(|(_, suffix)| suffix.to_owned()).collect();
    }

    /// Groups nodes with the same NICs.
    fn group_nodes_with_same_nics(&mut self) {
        let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
        for (node, state) in self.node_states.iter().filter(|(_, state)| !state.interfaces.is_empty()) {
            let alike = places.entry(state.print).or_default();
            let same = |at: &usize| {
                self.nic_sets.get(*at).is_some_and(|set| set.state.interfaces == state.interfaces)
            };
            match alike.iter().copied().find(same).and_then(|at| self.nic_sets.get_mut(at)) {
                Some(set) => set.nodes.push(node.as_str().into()),
                None => {
                    alike.push(self.nic_sets.len());
                    let (state, nodes) = (Arc::clone(state), vec![node.as_str().into()]);
                    self.nic_sets.push(NodesWithSameNics { state, nodes });
                }
            }
        }
    }

    fn index_policies_to_compare(&mut self) {
        let all = self.node_policies.iter().map(|(name, policy)| (name.clone(), Arc::clone(policy)));
        self.policies_that_may_meet = SriovPoliciesToCompare::new(all.collect(), &self.other_names);
    }

    fn derive_facts_from_policies_and_node_states(&mut self) {
        for ((namespace, name), policy) in &self.node_policies {
            let fact = ResourceFact {
                name: ResourceName::Suffix(policy.resource.clone()),
                server: ResourceProvider::SriovOperator,
                link: policy.link,
                rdma: Some(policy.do_vfs_have_rdma()),
                shared: Some(false),
                per_nic: policy.num_vfs,
                interfaces: Vec::new(),
                vendor: policy.nics.vendor.clone(),
                origins: vec![format!("SriovNetworkNodePolicy {namespace}/{name}").into()],
            };
            insert_or_merge_resource(&mut self.suffixes, &policy.resource, fact);
        }
        // The nodes' view of the policies: it shows the link layer if policies accept either, and replaces policies
        // that are not known.
        let mut made: BTreeMap<&str, ResourceFact> = BTreeMap::new();
        let node_state: Arc<str> = "SriovNetworkNodeState".into();
        for state in self.node_states.values() {
            for interface in &state.interfaces {
                let port = InterfaceOnAllNodes {
                    link: interface.link,
                    exclusive: state.rdma_exclusive,
                    largest_mtu: interface.mtu,
                };
                match self.ports.get_mut(&interface.name) {
                    Some(known) => known.keep_only_agreed_facts(port),
                    None => drop(self.ports.insert(interface.name.clone(), port)),
                }
                // An interface may have thousands of alternative names.
                let name: Option<Arc<str>> = Some(interface.name.as_str().into());
                for other in &interface.alt_names {
                    let known = self.other_names.entry(other.clone()).or_insert_with(|| name.clone());
                    if *known != name {
                        *known = None;
                    }
                }
            }
            for group in &state.groups {
                let site = ResourceOnAllNodes::from_one_node(state, group);
                match self.sites.get_mut(&group.resource) {
                    Some(known) => known.merge_with_unknown_where_differing(&site),
                    None => drop(self.sites.insert(group.resource.clone(), site)),
                }
                let fact = ResourceFact {
                    name: ResourceName::Suffix(group.resource.clone()),
                    server: ResourceProvider::SriovOperator,
                    link: group.link,
                    rdma: Some(group.rdma),
                    shared: Some(false),
                    per_nic: None,
                    interfaces: Vec::new(),
                    vendor: None,
                    origins: vec![Arc::clone(&node_state)],
                };
                match made.get_mut(group.resource.as_str()) {
                    Some(known) => known.merge_with_unknown_where_differing(&fact),
                    None => drop(made.insert(&group.resource, fact)),
                }
            }
        }
        for (resource, fact) in made {
            match self.suffixes.get_mut(resource) {
                Some(known) => known.link = known.link.or(fact.link),
                None => {
                    self.suffixes.insert(resource.to_owned(), fact);
                }
            }
        }
    }
}
