//! All facts of network and device objects laid together, for lookups that allocate nothing.

use super::network::Rendered;
use super::resource::{ResourceFact, Server, agreed};
use super::{DeviceClaim, DeviceClass, DevicePool, NodePolicy, NodeState, Slice, device_class};
use crate::multus::{LinkLayer, NetworkFact, ResourceName, Sharing};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Values by namespace, then by name.
type ByNamespace<T> = HashMap<String, HashMap<String, Arc<T>>>;

/// A network's class with everything that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetworkClass<'a> {
    /// `type` of the CNI plugin that makes the interface.
    pub plugin: Option<&'a str>,
    /// Whether the RDMA device is to move into the pod's namespace.
    pub isolation: bool,
    /// Link layer.
    pub link: Option<LinkLayer>,
    /// How many pods have its device at a time.
    pub sharing: Option<Sharing>,
    /// Whether the attachment brings an RDMA device.
    pub rdma: Option<bool>,
    /// Resource behind it, where it is known who serves it: the network's own, for a shared interface the pool of
    /// shared RDMA devices that is over the same interface.
    pub resource: Option<&'a ResourceFact>,
}

/// Facts by what they are asked by.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Index {
    networks: ByNamespace<Rendered>,
    /// By full name.
    resources: HashMap<String, ResourceFact>,
    /// Those of the SR-IOV operator by the name behind the prefix, which is not known.
    suffixes: HashMap<String, ResourceFact>,
    /// Link layer of interfaces by name; `None` where nodes differ.
    interfaces: HashMap<String, Option<LinkLayer>>,
    node_policies: BTreeMap<(String, String), Arc<NodePolicy>>,
    node_states: BTreeMap<String, Arc<NodeState>>,
    device_classes: HashMap<String, Arc<DeviceClass>>,
    claims: ByNamespace<DeviceClaim>,
    claim_templates: ByNamespace<DeviceClaim>,
    /// By driver, then by pool, with the generation.
    pools: BTreeMap<String, BTreeMap<String, (i64, DevicePool)>>,
}

fn put<T>(map: &mut ByNamespace<T>, namespace: &str, name: &str, value: Arc<T>) {
    map.entry(namespace.to_owned()).or_default().insert(name.to_owned(), value);
}

fn get<'a, T>(map: &'a ByNamespace<T>, namespace: &str, name: &str) -> Option<&'a T> {
    map.get(namespace)?.get(name).map(Arc::as_ref)
}

/// Takes a resource in under a key, together with what is known of it already.
fn merge(map: &mut HashMap<String, ResourceFact>, key: &str, fact: ResourceFact) {
    match map.get_mut(key) {
        Some(known) => known.merge(&fact),
        None => {
            map.insert(key.to_owned(), fact);
        }
    }
}

/// Filling. What is put under one name twice is the last one's: the caller knows the order.
impl Index {
    pub(crate) fn add_network(&mut self, network: &Arc<Rendered>) {
        put(&mut self.networks, &network.namespace, &network.name, Arc::clone(network));
    }

    pub(crate) fn add_node_policy(&mut self, namespace: &str, name: &str, policy: &Arc<NodePolicy>) {
        self.node_policies.insert((namespace.to_owned(), name.to_owned()), Arc::clone(policy));
    }

    pub(crate) fn add_node_state(&mut self, node: &str, state: &Arc<NodeState>) {
        self.node_states.insert(node.to_owned(), Arc::clone(state));
    }

    pub(crate) fn add_pools(&mut self, pools: &[ResourceFact]) {
        for pool in pools {
            if let ResourceName::Full(name) = &pool.name {
                merge(&mut self.resources, name, pool.clone());
            }
        }
    }

    pub(crate) fn add_device_class(&mut self, name: &str, class: &Arc<DeviceClass>) {
        let implicit = format!("{}/{name}", device_class::IMPLICIT_DOMAIN);
        for resource in class.extended_resource.iter().chain([&implicit]) {
            let fact = ResourceFact {
                name: ResourceName::Full(resource.clone()),
                server: Server::DeviceClass,
                link: None,
                rdma: None,
                shared: None,
                per_nic: None,
                interfaces: Vec::new(),
            };
            merge(&mut self.resources, resource, fact);
        }
        self.device_classes.insert(name.to_owned(), Arc::clone(class));
    }

    pub(crate) fn add_claim(&mut self, namespace: &str, name: &str, claim: &Arc<DeviceClaim>) {
        put(&mut self.claims, namespace, name, Arc::clone(claim));
    }

    pub(crate) fn add_claim_template(&mut self, namespace: &str, name: &str, claim: &Arc<DeviceClaim>) {
        put(&mut self.claim_templates, namespace, name, Arc::clone(claim));
    }

    pub(crate) fn add_slice(&mut self, slice: &Slice) {
        let pools = self.pools.entry(slice.driver.clone()).or_default();
        match pools.get_mut(&slice.pool) {
            Some((generation, _)) if *generation > slice.generation => {}
            Some((generation, pool)) if *generation == slice.generation => pool.add(&slice.devices),
            _ => {
                pools.insert(slice.pool.clone(), (slice.generation, slice.devices.clone()));
            }
        }
    }

    /// Draws the conclusions, when everything is in.
    pub(crate) fn finish(&mut self) {
        for policy in self.node_policies.values() {
            let fact = ResourceFact {
                name: ResourceName::Suffix(policy.resource.clone()),
                server: Server::SriovOperator,
                link: policy.link,
                rdma: Some(policy.rdma()),
                shared: Some(false),
                per_nic: policy.num_vfs,
                interfaces: Vec::new(),
            };
            merge(&mut self.suffixes, &policy.resource, fact);
        }
        // What the nodes have made of the policies: it tells the link layer where policies take either, and stands
        // for policies that are not at hand.
        let mut made: HashMap<String, ResourceFact> = HashMap::new();
        for state in self.node_states.values() {
            for interface in &state.interfaces {
                let link = self.interfaces.entry(interface.name.clone()).or_insert(interface.link);
                *link = agreed(*link, interface.link);
            }
            for group in &state.groups {
                let fact = ResourceFact {
                    name: ResourceName::Suffix(group.resource.clone()),
                    server: Server::SriovOperator,
                    link: group.link,
                    rdma: Some(group.rdma),
                    shared: Some(false),
                    per_nic: None,
                    interfaces: Vec::new(),
                };
                merge(&mut made, &group.resource, fact);
            }
        }
        for (resource, fact) in made {
            match self.suffixes.get_mut(&resource) {
                Some(known) => known.link = known.link.or(fact.link),
                None => {
                    self.suffixes.insert(resource, fact);
                }
            }
        }
    }
}

/// Lookups.
impl Index {
    /// What is known of a network.
    #[must_use]
    pub fn network(&self, namespace: &str, name: &str) -> Option<&NetworkFact> {
        get(&self.networks, namespace, name).map(|n| &n.fact)
    }

    /// Who serves an extended resource, and what its devices are. A configuration that names the resource in full
    /// counts before a policy that names the part behind a prefix.
    #[must_use]
    pub fn resource(&self, name: &str) -> Option<&ResourceFact> {
        self.resources.get(name).or_else(|| self.suffixes.get(name.split_once('/')?.1))
    }

    fn resource_of(&self, name: &ResourceName) -> Option<&ResourceFact> {
        match name {
            ResourceName::Full(name) => self.resource(name),
            ResourceName::Suffix(name) => self.suffixes.get(name),
        }
    }

    /// The pool of shared RDMA devices over an interface, where exactly one names it.
    #[must_use]
    pub fn shared_pool(&self, interface: &str) -> Option<&ResourceFact> {
        let over = |r: &&ResourceFact| r.shared == Some(true) && r.interfaces.iter().any(|i| i == interface);
        let mut pools = self.resources.values().filter(over);
        pools.next().filter(|_| pools.next().is_none())
    }

    /// Link layer of an interface of the nodes, where all that have it agree.
    #[must_use]
    pub fn interface(&self, name: &str) -> Option<LinkLayer> {
        self.interfaces.get(name).copied().flatten()
    }

    /// A network's class. `asked`: the resources that the pod asks for, which settle a shared interface's link layer
    /// where nothing else does; empty where there is no pod.
    #[must_use]
    pub fn classify<'a>(
        &'a self,
        network: &'a NetworkFact,
        asked: &mut dyn Iterator<Item = &str>,
    ) -> NetworkClass<'a> {
        let class = &network.class;
        let interface = class.interface.as_deref();
        let mut resource = network.resource.as_ref().and_then(|r| self.resource_of(r));
        if class.sharing == Some(Sharing::Shared) && resource.is_none() {
            let pool = |r: &&ResourceFact| r.server == Server::SharedDevicePlugin;
            resource = interface
                .and_then(|i| self.shared_pool(i))
                .or_else(|| asked.filter_map(|name| self.resource(name)).find(pool));
        }
        let of_interface = interface.and_then(|i| self.interface(i));
        // A pool that the pod asks for says what its HCA is, not what an interface of another NIC is.
        let of_resource = resource.and_then(|r| r.link);
        NetworkClass {
            plugin: class.plugin.as_deref(),
            isolation: class.isolation,
            link: class.link_with(of_resource, of_interface),
            sharing: class.sharing,
            rdma: class.rdma_with(resource.and_then(|r| r.rdma)),
            resource,
        }
    }

    /// Policies of the SR-IOV operator: namespace, name and what they say.
    pub fn node_policies(&self) -> impl Iterator<Item = (&str, &str, &NodePolicy)> {
        self.node_policies
            .iter()
            .map(|((namespace, name), p)| (namespace.as_str(), name.as_str(), p.as_ref()))
    }

    /// What the SR-IOV operator says of a node.
    #[must_use]
    pub fn node_state(&self, node: &str) -> Option<&NodeState> {
        self.node_states.get(node).map(Arc::as_ref)
    }

    /// A DeviceClass.
    #[must_use]
    pub fn device_class(&self, name: &str) -> Option<&DeviceClass> {
        self.device_classes.get(name).map(Arc::as_ref)
    }

    /// A ResourceClaim.
    #[must_use]
    pub fn claim(&self, namespace: &str, name: &str) -> Option<&DeviceClaim> {
        get(&self.claims, namespace, name)
    }

    /// A ResourceClaimTemplate.
    #[must_use]
    pub fn claim_template(&self, namespace: &str, name: &str) -> Option<&DeviceClaim> {
        get(&self.claim_templates, namespace, name)
    }

    /// Devices that a DRA driver publishes, by pool.
    pub fn device_pools(&self, driver: &str) -> impl Iterator<Item = (&str, &DevicePool)> {
        self.pools.get(driver).into_iter().flatten().map(|(name, (_, pool))| (name.as_str(), pool))
    }
}
