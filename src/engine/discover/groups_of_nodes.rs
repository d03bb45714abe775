//! Nodes with accelerators, in groups that have one fabric as far as their resources show.

use super::counts_over_nodes::Count;
use super::devices_behind_resource::{
    MELLANOX, Supply, do_policies_give_node_functions, has_mellanox, networks_of,
};
use super::limit_of_comparisons::Comparisons;
use super::node_as_shown::{GKE_ACCELERATOR, Node, PRODUCT, Provider};
use super::objects_of_cluster::Sources;
use super::signs_of_nics::{GKE_NETWORKS, is_gke_address};
use crate::pod::AcceleratorNames;
use std::collections::{BTreeMap, BTreeSet};

/// Resource of the EFA device plugin.
pub(super) const EFA: &str = "vpc.amazonaws.com/efa";
/// Label of CoreWeave's nodes: `infiniband` or `roce`, and empty on nodes without a fabric.
pub(super) const COREWEAVE_FLAVOR: &str = "backend.coreweave.cloud/flavor";
/// Labels of OKE's nodes in an RDMA network.
const OKE_RDMA: [&str; 2] =
    ["oci.oraclecloud.com/rdma.network_block_id", "oci.oraclecloud.com/rdma.hpc_island_id"];
/// Values of OKE's labels that mean that the node is in none.
const OKE_ABSENT: [&str; 3] = ["none", "no-imds-data", "unknown"];

/// Labels with the name of the node pool, by the tools that create pools.
pub(super) const POOLS: [&str; 9] = [
    "eks.amazonaws.com/nodegroup",
    "alpha.eksctl.io/nodegroup-name",
    "karpenter.sh/nodepool",
    "sagemaker.amazonaws.com/instance-group-name",
    "cloud.google.com/gke-nodepool",
    "kubernetes.azure.com/agentpool",
    "agentpool",
    "compute.coreweave.com/node-pool",
    "nebius.com/node-group",
];

/// Resources of RDMA NICs whose plugins are not configured by an object that is read here.
const RDMA_RESOURCES_WITHOUT_CONFIG_OBJECT: [&str; 5] =
    ["amd.com/nic", "amd.com/vnic", "aliyun/erdma", "nvidia.com/rdma_ib", OKE_VF];
/// Resource of the virtual functions of Oracle's stack for OKE.
pub(super) const OKE_VF: &str = "nvidia.com/rdma-vf";

/// A group of nodes.
#[derive(Debug, Clone)]
pub(super) struct Group<'a> {
    pub(super) nodes: Vec<&'a Node>,
    pub(super) provider: Provider,
    /// Resource or DRA driver of the accelerators, and their number; `None` while no node lists any.
    pub(super) accelerators: Option<(String, Count)>,
    /// Resources of RDMA NICs.
    pub(super) resources: BTreeMap<String, Count>,
    /// DRA drivers with RDMA devices, and the number of these.
    pub(super) claims: BTreeMap<String, Count>,
    /// Label of the provider that shows a fabric, and its value.
    pub(super) sign: Option<(String, String)>,
}

/// Whether a resource is that of RDMA NICs. A resource that all objects describe as one without RDMA is not.
fn is_fabric(resource: &str, nodes: &[&Node], sources: &Sources, accelerators: &AcceleratorNames) -> bool {
    if accelerators.contains(resource) {
        return false;
    }
    if resource == EFA {
        return true;
    }
    if resource.starts_with(GKE_NETWORKS) {
        return !is_gke_address(resource);
    }
    let supply = Supply::devices_behind(resource, nodes, sources);
    match supply.is_rdma() {
        Some(true) => true,
        Some(false) => supply.rdma.iter().any(|(rdma, _)| *rdma),
        None => {
            RDMA_RESOURCES_WITHOUT_CONFIG_OBJECT.contains(&resource)
                || resource.starts_with("rdma/")
                || !networks_of(resource, sources).is_empty()
        }
    }
}

/// Label by which the provider shows that a node is in an RDMA network.
fn provider_label_of_fabric(node: &Node) -> Option<(String, String)> {
    let coreweave = node.label(COREWEAVE_FLAVOR).map(|flavor| (COREWEAVE_FLAVOR, flavor.to_owned()));
    let oke = OKE_RDMA.iter().find_map(|key| {
        let value = node.label(key)?;
        // The value is the place of the node, which differs within a fabric.
        (!OKE_ABSENT.contains(&value)).then(|| (*key, String::new()))
    });
    let found = match node.provider() {
        Provider::CoreWeave => coreweave,
        Provider::Oci => oke,
        _ => None,
    };
    found.map(|(key, value)| (key.to_owned(), value))
}

type Shape<'a> = [Option<&'a str>; 6];

/// Machines of one kind: a node that lacks a resource that its like have is not of another fabric.
fn shape_of_node(node: &Node) -> Shape<'_> {
    let gke = node.label(GKE_ACCELERATOR).filter(|_| node.provider() == Provider::Gce);
    let pool = POOLS.iter().find_map(|key| node.label(key));
    let nic = has_mellanox(node).then_some(MELLANOX);
    // A machine with MIG devices has no whole GPUs, and says nothing about its like.
    let mig = node.sign_of_mig().map(|_| "mig");
    [node.instance_type(), node.label(PRODUCT), gke, pool, nic, mig]
}

/// What a node lists of a fabric.
type Signature = BTreeSet<String>;

/// The groups of all nodes with accelerators.
pub(super) fn group_nodes_that_look_alike(sources: &Sources) -> Vec<Group<'_>> {
    let known = AcceleratorNames::default();
    let mut shapes: BTreeMap<(Provider, Shape<'_>), Vec<&Node>> = BTreeMap::new();
    for node in sources.nodes.values().filter(|node| node.has_accelerators(&known)) {
        shapes.entry((node.provider(), shape_of_node(node))).or_default().push(node);
    }
    let mut groups = Vec::new();
    for ((provider, _), nodes) in shapes {
        let names: BTreeSet<&str> = nodes.iter().flat_map(|node| node.resources()).collect();
        let fabric: BTreeSet<&str> =
            names.into_iter().filter(|name| is_fabric(name, &nodes, sources, &known)).collect();
        for nodes in split_by_listed_resources(&nodes, &fabric, sources) {
            if sources.comparisons.count(nodes.len().saturating_mul(fabric.len())) {
                groups.push(describe_group(nodes, provider, &fabric, &known));
            }
        }
    }
    groups
}

fn describe_group<'a>(
    nodes: Vec<&'a Node>,
    provider: Provider,
    fabric: &BTreeSet<&str>,
    known: &AcceleratorNames,
) -> Group<'a> {
    let named = nodes.iter().filter_map(|node| Some(node.accelerators(known)?.0));
    let names: BTreeSet<String> = named.collect();
    let units = |name: &String| {
        let count = Count::count_units_over_nodes(&nodes, |node| {
            node.accelerators(known).filter(|(of, _)| of == name).map_or(0, |(_, units)| units)
        });
        (name.clone(), count)
    };
    let accelerators = names.iter().map(units).max_by_key(|(_, count)| count.units);
    let listed: BTreeSet<&str> =
        nodes.iter().flat_map(|node| node.resources()).filter(|name| fabric.contains(name)).collect();
    let resources = listed
        .into_iter()
        .map(|name| (name.to_owned(), Count::count_units_over_nodes(&nodes, |node| node.units(name))))
        .collect();
    let drivers: BTreeSet<&String> =
        nodes.iter().flat_map(|n| n.claimable.iter().filter(|(_, c)| c.rdma > 0).map(|(d, _)| d)).collect();
    let rdma = |driver: &String| {
        Count::count_units_over_nodes(&nodes, |node| {
            node.claimable.get(driver).map_or(0, |devices| devices.rdma.into())
        })
    };
    let claims = drivers.into_iter().map(|driver| (driver.clone(), rdma(driver))).collect();
    let sign = nodes.iter().find_map(|node| provider_label_of_fabric(node));
    Group { nodes, provider, accelerators, resources, claims, sign }
}

/// The only one of the largest sets around a set; `None` if there are none, or several. Those around it are among the sets
/// that hold its rarest name.
fn whole_of<'s>(
    part: &Signature,
    holding: &BTreeMap<&str, Vec<&'s Signature>>,
    every: &[&'s Signature],
    comparisons: &Comparisons,
) -> Option<&'s Signature> {
    let rarest = part.iter().filter_map(|name| holding.get(name.as_str())).min_by_key(|with| with.len());
    let around = rarest.map_or(every, Vec::as_slice);
    if !comparisons.count(around.len().saturating_mul(2 * (1 + part.len()))) {
        return None;
    }
    let wholes: Vec<&Signature> =
        around.iter().copied().filter(|one| one.len() > part.len() && part.is_subset(one)).collect();
    let largest = wholes.iter().copied().max_by_key(|whole| whole.len())?;
    wholes.iter().all(|whole| whole.is_subset(largest)).then_some(largest)
}

/// Machines of one kind by the resources that they list. A node with only a part of what its like list is one of them,
/// while its plugins or drivers restart; half of all nodes are not.
fn split_by_listed_resources<'a>(
    nodes: &[&'a Node],
    fabric: &BTreeSet<&str>,
    sources: &Sources,
) -> Vec<Vec<&'a Node>> {
    let mut by: BTreeMap<Signature, Vec<&Node>> = BTreeMap::new();
    for node in nodes {
        let listed = node.resources().filter(|name| fabric.contains(name)).map(str::to_owned);
        let claims = node.claimable.iter().filter(|(_, devices)| devices.rdma > 0).map(|(d, _)| d.clone());
        let sign = provider_label_of_fabric(node).map(|(key, value)| format!("{key}={value}"));
        by.entry(listed.chain(claims).chain(sign).collect()).or_default().push(node);
    }
    let signatures: Vec<Signature> = by.keys().cloned().collect();
    let mut holding: BTreeMap<&str, Vec<&Signature>> = BTreeMap::new();
    for signature in &signatures {
        for name in signature {
            holding.entry(name).or_default().push(signature);
        }
    }
    let every: Vec<&Signature> = signatures.iter().collect();
    for part in &signatures {
        let Some(whole) = whole_of(part, &holding, &every, &sources.comparisons) else { continue };
        // A node that the policy leaves out lacks the resource on purpose.
        let left_out = |node: &&Node| {
            whole
                .difference(part)
                .any(|name| do_policies_give_node_functions(name, node, sources) == Some(false))
        };
        if by.get(part).into_iter().flatten().any(left_out) {
            continue;
        }
        let serving = |nodes: Option<&Vec<&Node>>| nodes.into_iter().flatten().filter(|n| n.serves).count();
        if serving(by.get(part)) < by.get(whole).map_or(0, Vec::len) {
            let nodes = by.remove(part).unwrap_or_default();
            by.entry(whole.clone()).or_default().extend(nodes);
        }
    }
    by.into_values().collect()
}
