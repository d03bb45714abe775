//! What objects say about the devices behind an extended resource of a group of nodes.

use super::counts_over_nodes::Count;
use super::node_as_shown::Node;
use super::objects_of_cluster::{Network, Sources};
use crate::facts::sriov_node_state::{SriovNodeState, VfGroup};
use crate::multus::LinkLayer;
use std::collections::BTreeSet;

/// Most device plugin pools of one resource that are read (count). A cluster has one for each kind of machine.
const MAX_POOLS: usize = 256;

/// PCI vendor of ConnectX and BlueField NICs.
pub(super) const MELLANOX: &str = "15b3";

/// A resource as device plugins, policies and node states describe it.
#[derive(Debug, Default)]
pub(super) struct Supply {
    /// Whether a container gets an RDMA device, with the objects that say so.
    pub(super) rdma: Vec<(bool, String)>,
    /// Link layers, with the objects.
    pub(super) links: Vec<(LinkLayer, String)>,
    /// Whether several pods use a device at once.
    pub(super) shared: Option<bool>,
    /// Interfaces of the hosts that the pool is limited to; empty without such a limit.
    pub(super) interfaces: BTreeSet<String>,
    /// NICs of a node with the resource, by node states.
    pub(super) nics: Option<Count>,
    /// Virtual functions of each NIC.
    pub(super) per_nic: Option<(u32, String)>,
    /// PCI vendors of the NICs.
    pub(super) vendors: BTreeSet<String>,
    /// Labels by which policies select the nodes of the resource.
    pub(super) node_labels: BTreeSet<String>,
}

/// What a network or policy of a group counts for: its name is kept, and a network may become a rail of the group's profile.
pub(super) const COMPARISONS_OF_OBJECT: usize = 64;

/// The part of a resource's name behind the prefix, which no custom resource contains.
fn resource_without_domain(resource: &str) -> &str {
    resource.split_once('/').map_or(resource, |(_, name)| name)
}

/// The groups of virtual functions of a resource.
fn groups_of_resource<'a>(state: &'a SriovNodeState, resource: &str) -> &'a [VfGroup] {
    let name = resource_without_domain(resource);
    let start = state.groups.partition_point(|group| *group.resource < *name);
    let (_, groups) = state.groups.split_at_checked(start).unwrap_or_default();
    let length = groups.partition_point(|group| *group.resource == *name);
    groups.get(..length).unwrap_or_default()
}

impl Supply {
    pub(super) fn devices_behind(resource: &str, nodes: &[&Node], sources: &Sources) -> Self {
        let mut supply = Self::default();
        // Each group of nodes goes through them, and they describe one device.
        for pool in sources.pools.objects_of_resource(resource, 1, &sources.comparisons).take(MAX_POOLS) {
            let object = pool.origins.first().map(|origin| origin.to_string()).unwrap_or_default();
            supply.rdma.extend(pool.rdma.map(|rdma| (rdma, object.clone())));
            supply.links.extend(pool.link.map(|link| (link, object.clone())));
            supply.shared = supply.shared.or(pool.shared);
            supply.vendors.extend(pool.vendor.clone());
            supply.interfaces.extend(pool.interfaces.iter().cloned());
        }
        for (object, policy) in sources.policies.objects_of_resource(resource, 1, &sources.comparisons) {
            let selected =
                |node: &&Node| policy.nodes.iter().all(|(key, value)| node.labels.get(key) == Some(value));
            let first = nodes.iter().position(selected);
            let nodes_until_first = first.map_or(nodes.len(), |at| at + 1);
            if !sources.comparisons.count(nodes_until_first.saturating_mul(policy.nodes.len().max(1))) {
                break;
            }
            if first.is_none() || !sources.comparisons.count(COMPARISONS_OF_OBJECT) {
                continue;
            }
            supply.rdma.push((policy.do_vfs_have_rdma(), object.clone()));
            supply.links.extend(policy.link.map(|link| (link, object.clone())));
            supply.shared = Some(false);
            supply.per_nic = policy.num_vfs.map(|vfs| (vfs, object.clone()));
            supply.vendors.extend(policy.nics.vendor.clone());
            supply.node_labels.extend(policy.nodes.keys().cloned());
        }
        supply.add_states(resource, nodes, sources);
        supply
    }

    fn add_states(&mut self, resource: &str, nodes: &[&Node], sources: &Sources) {
        let mut known = Vec::new();
        if !sources.comparisons.count(nodes.len()) {
            return;
        }
        for node in nodes {
            let Some(state) = sources.states.get(&node.name) else { continue };
            let groups = groups_of_resource(state, resource);
            if !sources.comparisons.count(groups.len().saturating_mul(1 + state.interfaces.len())) {
                break;
            }
            let object = format!("SriovNetworkNodeState {}", node.name);
            for group in groups {
                let nic = state.interfaces.iter().find(|nic| *nic.name == *group.interface);
                self.vendors.extend(nic.and_then(|nic| nic.vendor.clone()));
                let said = |known: &[(bool, String)], rdma| known.iter().any(|(said, _)| *said == rdma);
                if !said(&self.rdma, group.rdma) {
                    self.rdma.push((group.rdma, object.clone()));
                }
                if let Some(link) = group.link
                    && !self.links.iter().any(|(said, _)| *said == link)
                {
                    self.links.push((link, object.clone()));
                }
            }
            if !groups.is_empty() {
                known.push(*node);
            }
        }
        if !known.is_empty() {
            self.nics = Some(Count::count_units_over_nodes(&known, |node| {
                let groups = sources.states.get(&node.name).map(|state| groups_of_resource(state, resource));
                let nics: BTreeSet<&str> =
                    groups.unwrap_or_default().iter().map(|group| &*group.interface).collect();
                u64::try_from(nics.len()).unwrap_or(u64::MAX)
            }));
        }
    }

    /// Objects that contradict each other.
    pub(super) fn contradiction_of_sources(&self, resource: &str) -> Option<String> {
        let two = |first: &str, second: &str, what: &str| format!("{first} and {second} disagree on {what}");
        let rdma = self.rdma.iter().find(|(rdma, _)| *rdma).zip(self.rdma.iter().find(|(rdma, _)| !*rdma));
        if let Some(((_, yes), (_, no))) = rdma {
            return Some(two(yes, no, &format!("whether {resource} has RDMA devices")));
        }
        let first = self.links.first()?;
        let other = self.links.iter().find(|(link, _)| *link != first.0)?;
        Some(two(&first.1, &other.1, &format!("the link layer of {resource}")))
    }

    /// Whether its devices have RDMA; `None` if no object says so.
    pub(super) fn is_rdma(&self) -> Option<bool> {
        self.rdma.first().map(|(rdma, _)| *rdma)
    }
}

/// Whether a policy gives a node functions of the resource; `None` if no policy is about the resource.
pub(super) fn do_policies_give_node_functions(
    resource: &str,
    node: &Node,
    sources: &Sources,
) -> Option<bool> {
    let wanted = sources
        .policies
        .objects_of_resource(resource, 1, &sources.comparisons)
        .take_while(|(_, policy)| sources.comparisons.count(policy.nodes.len().max(1)))
        .map(|(_, policy)| policy.nodes.iter().all(|(key, value)| node.labels.get(key) == Some(value)));
    wanted.reduce(|any, one| any || one)
}

/// Whether Node Feature Discovery shows a NIC of this vendor. Unlike the label of a loaded driver, this one stays while a
/// driver restarts.
pub(super) fn has_mellanox(node: &Node) -> bool {
    let nfd = node.labels.iter().filter(|(key, _)| key.starts_with("feature.node.kubernetes.io/pci-"));
    nfd.into_iter().any(|(key, value)| key.contains(MELLANOX) && value == "true")
}

/// Networks whose attachments take a unit of the resource.
pub(super) fn networks_of<'a>(resource: &str, sources: &'a Sources) -> Vec<&'a Network> {
    sources.networks.objects_of_resource(resource, COMPARISONS_OF_OBJECT, &sources.comparisons).collect()
}

/// The link layer that the PCI class of the NICs shows: 0200 is Ethernet, 0207 InfiniBand (PCI Code and ID Assignment).
/// Node Feature Discovery has the class in its labels as it is configured by default. Nodes with NICs of both classes show
/// nothing.
pub(super) fn link_by_class(nodes: &[&Node]) -> Option<(LinkLayer, String)> {
    let label = |class: &str| format!("feature.node.kubernetes.io/pci-{class}_{MELLANOX}.present");
    let (ethernet, infiniband) = (label("0200"), label("0207"));
    let with = |key: &str| nodes.iter().filter(|node| node.label(key) == Some("true")).count();
    match (with(&ethernet), with(&infiniband)) {
        (all, 0) if all == nodes.len() => Some((LinkLayer::Ethernet, format!("label {ethernet}"))),
        (0, all) if all == nodes.len() => Some((LinkLayer::InfiniBand, format!("label {infiniband}"))),
        _ => None,
    }
}

/// Whether the NICs of a group are NVIDIA's, for which the bases set NCCL_IB_HCA: `None` if no object says so.
pub(super) fn is_mellanox(nodes: &[&Node], supplies: &[&Supply]) -> Option<bool> {
    let vendors: BTreeSet<&str> =
        supplies.iter().flat_map(|supply| supply.vendors.iter().map(String::as_str)).collect();
    if !vendors.is_empty() {
        return Some(vendors.iter().all(|vendor| *vendor == MELLANOX));
    }
    nodes.iter().copied().all(has_mellanox).then_some(true)
}
