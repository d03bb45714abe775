//! Facts about the whole cluster, combined from its network and device objects, for lookups that allocate nothing. Facts of
//! single namespaces are in `facts_by_namespace_and_name`.

use super::extended_resource::{ResourceFact, ResourceProvider};
use super::facts_from_all_nodes::{InterfaceOnAllNodes, ResourceOnAllNodes};
use super::nics_listed_by_sriov_policy::NicNumber;
use super::sriov_node_state::PhysicalFunction;
use super::sriov_policies_to_compare::{PolicyToCompare, SriovPoliciesToCompare};
use super::{
    AddressPool, DeviceClass, DevicePool, FactKind, NicsListedByPolicy, SriovNodePolicy, SriovNodeState,
    SriovOperatorConfig, SriovPoolConfig,
};
use crate::multus::ipam::NvIpamPoolName;
use crate::multus::{LinkLayer, NetworkFact, ResourceName, Sharing};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// A network's class with all known facts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResolvedNetwork<'a> {
    /// `type` of the CNI plugin that creates the interface.
    pub plugin: Option<&'a str>,
    /// Whether the RDMA device moves into the pod's namespace.
    pub isolation: bool,
    /// Link layer of the interface.
    pub link: Option<LinkLayer>,
    /// How many pods have its device at once.
    pub sharing: Option<Sharing>,
    /// Whether an RDMA device comes with it. An interface over a shared NIC brings none itself: the pod requests one,
    /// so without a pod the answer is unknown.
    pub rdma: Option<bool>,
    /// Its resource, if its provider is known: the network's own; for an interface over a shared NIC the pool of
    /// shared RDMA devices that the pod requests, else the one over the same interface. Its link layer is that of the
    /// RDMA device.
    pub resource: Option<&'a ResourceFact>,
}

/// An object that its operator renders to a NetworkAttachmentDefinition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedFrom {
    /// Kind.
    pub kind: FactKind,
    /// Its own namespace; empty for cluster-scoped kinds.
    pub namespace: String,
    /// Name.
    pub name: String,
}

/// Nodes that have the same NICs, at the same addresses: a cluster has as many groups as kinds of nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodesWithSameNics {
    /// State of the first node.
    pub(super) state: Arc<SriovNodeState>,
    /// Nodes by name, in order.
    pub(super) nodes: Vec<Box<str>>,
}

impl NodesWithSameNics {
    /// The NICs.
    #[must_use]
    pub fn interfaces(&self) -> &[PhysicalFunction] {
        &self.state.interfaces
    }
    /// Nodes that have them, in order.
    pub fn nodes(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().map(|node| &**node)
    }
}

/// Facts by their lookup keys.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ClusterFacts {
    /// By full name.
    pub(super) resources: HashMap<String, ResourceFact>,
    /// The pool of shared RDMA devices over each interface, by its resource; `None` if several name the interface.
    pub(super) pool_over: HashMap<String, Option<String>>,
    /// The names after the prefix of `resources`.
    pub(super) suffixes_of_full_names: HashSet<String>,
    /// Resources of the SR-IOV operator by the name after the prefix, which is not known.
    pub(super) suffixes: HashMap<String, ResourceFact>,
    /// Names of interfaces by their alternative names; `None` if nodes differ.
    pub(super) other_names: HashMap<String, Option<Arc<str>>>,
    /// Interfaces of nodes by name.
    pub(super) ports: HashMap<String, InterfaceOnAllNodes>,
    /// Facts from nodes about the SR-IOV operator's resources, by the name after the prefix.
    pub(super) sites: HashMap<String, ResourceOnAllNodes>,
    pub(super) node_policies: BTreeMap<(String, String), Arc<SriovNodePolicy>>,
    /// The same by their NICs and nodes.
    pub(super) policies_that_may_meet: SriovPoliciesToCompare,
    pub(super) node_states: BTreeMap<String, Arc<SriovNodeState>>,
    /// The same by their NICs, in the order of the first node of each.
    pub(super) nic_sets: Vec<NodesWithSameNics>,
    /// Address pools by kind (CIDRPool or not) and name; `None` if several with one name differ.
    pub(super) address_pools: HashMap<bool, BTreeMap<String, Option<Arc<AddressPool>>>>,
    pub(super) pool_configs: BTreeMap<(String, String), Arc<SriovPoolConfig>>,
    /// Configurations of the SR-IOV operator by its namespace.
    pub(super) operator_configs: BTreeMap<String, Arc<SriovOperatorConfig>>,
    /// Whether the NVIDIA Network Operator installs MLNX_OFED or DOCA-OFED on all nodes with an NVIDIA NIC.
    pub(super) ofed_everywhere: bool,
    /// Objects by the namespace and name of the definition that their operators render from them.
    pub(super) origins: HashMap<(String, String), Vec<RenderedFrom>>,
    pub(super) device_classes: HashMap<String, Arc<DeviceClass>>,
    /// DeviceClass by the extended resource that it provides.
    pub(super) classes_behind: HashMap<String, String>,
    /// By driver, then by pool, with the generation.
    pub(super) pools: BTreeMap<String, BTreeMap<String, (i64, DevicePool)>>,
}

/// Lookups.
impl ClusterFacts {
    /// Nodes by their NICs, from SriovNetworkNodeStates.
    #[must_use]
    pub fn nodes_grouped_by_nics(&self) -> &[NodesWithSameNics] {
        &self.nic_sets
    }

    /// The provider of an extended resource, and its devices. A configuration that names the resource in full wins
    /// over a policy that names only the part after the prefix.
    #[must_use]
    pub fn resource_by_full_name_or_suffix(&self, name: &str) -> Option<&ResourceFact> {
        self.resources.get(name).or_else(|| self.suffixes.get(name.split_once('/')?.1))
    }

    /// Whether any fact about a resource is known.
    #[must_use]
    pub fn has_resources(&self) -> bool {
        !self.resources.is_empty() || !self.suffixes.is_empty()
    }

    /// The DeviceClass whose devices a resource provides (KEP-5004).
    #[must_use]
    pub fn device_class_of_resource(&self, resource: &str) -> Option<&str> {
        self.classes_behind.get(resource).map(String::as_str)
    }

    fn resource_of(&self, name: &ResourceName) -> Option<&ResourceFact> {
        match name {
            ResourceName::Full(name) => self.resource_by_full_name_or_suffix(name),
            ResourceName::Suffix(name) => self.suffixes.get(name),
        }
    }

    /// The pool of shared RDMA devices over an interface, if exactly one names it.
    #[must_use]
    pub fn only_shared_rdma_pool_over_interface(&self, interface: &str) -> Option<&ResourceFact> {
        self.resources.get(self.pool_over.get(interface)?.as_ref()?)
    }

    /// Name of the interface with this alternative name; the given name if there is none, or if nodes differ.
    #[must_use]
    pub fn main_name_of_interface<'a>(&'a self, name: &'a str) -> &'a str {
        self.other_names.get(name).and_then(Option::as_deref).unwrap_or(name)
    }

    /// Link layer of an interface of the nodes, if all that have it agree.
    #[must_use]
    pub fn link_layer_of_interface(&self, name: &str) -> Option<LinkLayer> {
        self.ports.get(name)?.link
    }

    /// Facts from nodes about an interface.
    #[must_use]
    pub fn node_facts_of_interface(&self, name: &str) -> Option<InterfaceOnAllNodes> {
        self.ports.get(name).copied()
    }

    /// Facts from the nodes that provide a resource of the SR-IOV operator.
    #[must_use]
    pub fn node_facts_of_sriov_resource(&self, fact: &ResourceFact) -> Option<&ResourceOnAllNodes> {
        match (&fact.name, fact.server) {
            (ResourceName::Suffix(name), ResourceProvider::SriovOperator) => self.sites.get(name),
            _ => None,
        }
    }

    /// The address pool that a network names.
    #[must_use]
    pub fn address_pool(&self, name: &NvIpamPoolName) -> Option<&AddressPool> {
        self.address_pools.get(&name.cidr)?.get(&*name.name)?.as_deref()
    }

    /// Names of the address pools of a kind, in order.
    pub fn address_pool_names(&self, cidr: bool) -> impl Iterator<Item = &str> {
        self.address_pools.get(&cidr).into_iter().flat_map(|pools| pools.keys().map(String::as_str))
    }

    /// Whether an address pool of a kind has this name.
    #[must_use]
    pub fn has_address_pool(&self, cidr: bool, name: &str) -> bool {
        self.address_pools.get(&cidr).is_some_and(|pools| pools.contains_key(name))
    }

    /// The largest MTU of an interface with this name on any node, if all that have it report theirs.
    #[must_use]
    pub fn largest_mtu(&self, name: &str) -> Option<u32> {
        self.ports.get(name)?.largest_mtu
    }

    /// A network's class. `by_interface`: whether the link layer of the interface that it names counts. `asked`: the resources
    /// that the pod requests, which decide the RDMA device for an interface over a shared NIC; empty without a pod.
    #[must_use]
    pub fn resolve_link_and_device_of_network<'a>(
        &'a self,
        network: &'a NetworkFact,
        by_interface: bool,
        asked: &mut dyn Iterator<Item = &str>,
    ) -> ResolvedNetwork<'a> {
        let class = &network.class;
        let interface = class.interface.as_deref();
        let mut resource = network.resource.as_ref().and_then(|r| self.resource_of(r));
        let mut rdma = resource.and_then(|r| r.rdma);
        if matches!(class.plugin.as_deref(), Some("macvlan" | "ipvlan" | "ipoib")) && resource.is_none() {
            let shared = |r: &&ResourceFact| r.server == ResourceProvider::SharedDevicePlugin;
            let of_pod = asked.filter_map(|name| self.resource_by_full_name_or_suffix(name)).find(shared);
            rdma = of_pod.and_then(|r| r.rdma);
            resource =
                of_pod.or_else(|| interface.and_then(|i| self.only_shared_rdma_pool_over_interface(i)));
        }
        let of_interface = interface.filter(|_| by_interface).and_then(|i| self.link_layer_of_interface(i));
        ResolvedNetwork {
            plugin: class.plugin.as_deref(),
            isolation: class.isolation,
            link: class.link_layer_with_other_facts(resource.and_then(|r| r.link), of_interface),
            sharing: class.sharing,
            rdma: class.has_rdma_with_other_facts(rdma),
            resource,
        }
    }

    /// Policies of the SR-IOV operator: namespace, name and content.
    pub fn node_policies(&self) -> impl Iterator<Item = (&str, &str, &SriovNodePolicy)> {
        self.node_policies
            .iter()
            .map(|((namespace, name), p)| (namespace.as_str(), name.as_str(), p.as_ref()))
    }

    /// The policies that a policy is compared with: those that may have its NICs or its resource, or those that may have its
    /// nodes, whichever are fewer.
    pub fn sriov_policies_to_compare_with(
        &self,
        own: &SriovNodePolicy,
    ) -> impl Iterator<Item = &PolicyToCompare> {
        self.policies_that_may_meet.to_compare_with(own, &self.other_names)
    }

    /// The NICs that a policy lists, to compare with those of other policies.
    #[must_use]
    pub fn nics_listed_by_sriov_policy(&self, policy: &SriovNodePolicy) -> NicsListedByPolicy {
        self.policies_that_may_meet.nics_listed_by(policy, &self.other_names)
    }

    /// The number of an interface that some policy lists, which may be given by an alternative name.
    pub(crate) fn number_of_listed_interface(&self, interface: &str) -> Option<NicNumber> {
        self.policies_that_may_meet.number_of_interface(self.main_name_of_interface(interface))
    }

    /// Whether the NVIDIA Network Operator installs MLNX_OFED or DOCA-OFED on all nodes with an NVIDIA NIC.
    #[must_use]
    pub fn ofed_everywhere(&self) -> bool {
        self.ofed_everywhere
    }

    /// Whether the operator of a namespace checks its objects with a webhook; `None` if its configuration is not known.
    #[must_use]
    pub fn has_sriov_operator_webhook(&self, namespace: Option<&str>) -> Option<bool> {
        self.operator_config(namespace).map(|config| config.webhook)
    }

    /// Configuration of the SR-IOV operator of a namespace, if known. An object without a namespace belongs to the only
    /// operator.
    #[must_use]
    pub fn operator_config(&self, namespace: Option<&str>) -> Option<&SriovOperatorConfig> {
        let config = match namespace {
            Some(namespace) => self.operator_configs.get(namespace),
            None => self.operator_configs.values().next().filter(|_| self.operator_configs.len() == 1),
        };
        config.map(|config| &**config)
    }

    /// Pools of the SR-IOV operator: namespace, name and content.
    pub fn pool_configs(&self) -> impl Iterator<Item = (&str, &str, &SriovPoolConfig)> {
        let pools = self.pool_configs.iter();
        pools.map(|((namespace, name), p)| (namespace.as_str(), name.as_str(), p.as_ref()))
    }

    /// Objects that are rendered to the definition of a namespace and name.
    #[must_use]
    pub fn objects_rendered_to_network(&self, namespace: &str, name: &str) -> &[RenderedFrom] {
        self.origins.get(&(namespace.to_owned(), name.to_owned())).map(Vec::as_slice).unwrap_or_default()
    }

    /// Node states of the SR-IOV operator, by the nodes' names.
    pub fn node_states(&self) -> impl ExactSizeIterator<Item = (&str, &SriovNodeState)> {
        self.node_states.iter().map(|(node, state)| (node.as_str(), state.as_ref()))
    }

    /// Namespace of the SR-IOV operator: that of its objects for nodes, if they agree.
    #[must_use]
    pub fn namespace_of_sriov_operator(&self) -> Option<&str> {
        let mut all = self.node_states.values().map(|s| s.namespace.as_deref());
        let first = all.next()??;
        all.all(|n| n == Some(first)).then_some(first)
    }

    /// Facts from policies and nodes about a resource of the SR-IOV operator, by its name after the prefix.
    #[must_use]
    pub fn sriov_operator_resource(&self, name: &str) -> Option<&ResourceFact> {
        self.suffixes.get(name)
    }

    /// Whether a device plugin configuration serves a resource with this name after some prefix.
    #[must_use]
    pub fn do_device_plugins_serve_suffix(&self, name: &str) -> bool {
        self.suffixes_of_full_names.contains(name)
    }

    /// The SR-IOV operator's state of a node.
    #[must_use]
    pub fn node_state(&self, node: &str) -> Option<&SriovNodeState> {
        self.node_states.get(node).map(Arc::as_ref)
    }

    /// A DeviceClass.
    #[must_use]
    pub fn device_class(&self, name: &str) -> Option<&DeviceClass> {
        self.device_classes.get(name).map(Arc::as_ref)
    }

    /// Devices that a DRA driver publishes, by pool.
    pub fn dra_device_pools_of_driver(&self, driver: &str) -> impl Iterator<Item = (&str, &DevicePool)> {
        self.pools.get(driver).into_iter().flatten().map(|(name, (_, pool))| (name.as_str(), pool))
    }
}
