//! Labels that separate the nodes of a fabric from all other nodes with accelerators.

use super::groups_of_nodes::POOLS;
use super::node_as_shown::{GKE_ACCELERATOR, INSTANCE_TYPE, Node, PRODUCT, Provider};
use super::nodes_by_label::NodesByLabel;
use std::collections::{BTreeMap, BTreeSet};

/// Most values of a label in a selector; more values are of the nodes and not of their fabric.
const MAX_VALUES: usize = 8;
/// Most labels that are tried in pairs.
const MAX_CANDIDATES: usize = 24;

/// Keys and beginnings of keys that do not describe a fabric: places, names, versions, and states.
const KEYS_THAT_SHOW_NO_FABRIC: &[&str] = &[
    "alpha.eksctl.io/cluster-name",
    "app.kubernetes.io/",
    "beta.kubernetes.io/",
    "container.googleapis.com/",
    "cloud.google.com/",
    "csi.",
    "failure-domain.beta.kubernetes.io/",
    "feature.node.kubernetes.io/",
    "kubernetes.azure.com/",
    "kubernetes.io/",
    "k8s.io/",
    "node-role.kubernetes.io/",
    "node.kubernetes.io/",
    "nvidia.com/",
    "network.nvidia.com/",
    "oci.oraclecloud.com/",
    "topology.",
    "backend.coreweave.cloud/",
    "ib.coreweave.cloud/",
    "displayName",
    "hostname",
    "last-",
    "internal_addr",
];

/// A label with the values of the nodes; without values, one that no node of the fabric has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) key: String,
    pub(super) values: BTreeSet<String>,
}

impl Label {
    fn node_has_label(&self, node: &Node) -> bool {
        if self.values.is_empty() {
            return !node.labels.contains_key(&self.key);
        }
        node.label(&self.key).is_some_and(|value| self.values.contains(value))
    }

    fn values(&self) -> Vec<&str> {
        self.values.iter().map(String::as_str).collect()
    }
}

/// How well a label names a fabric's machines: the lower, the better. `None` if it does not.
fn rank_of_label_key(key: &str, provider: Provider, hints: &BTreeSet<String>) -> Option<u8> {
    let cloud = matches!(provider, Provider::Aws | Provider::Azure | Provider::Oci);
    match key {
        GKE_ACCELERATOR => (provider == Provider::Gce).then_some(0),
        INSTANCE_TYPE => Some(if cloud { 0 } else { 3 }),
        "node.coreweave.cloud/type" => Some(0),
        PRODUCT => Some(2),
        "nvidia.com/gpu.machine" => Some(3),
        // The MIG manager of the GPU operator splits the GPUs of a node as this label says.
        "nvidia.com/mig.config" => Some(5),
        _ if hints.contains(key) => Some(if key.starts_with("feature.node.kubernetes.io/") { 4 } else { 1 }),
        _ if POOLS.contains(&key) => Some(4),
        _ if KEYS_THAT_SHOW_NO_FABRIC.iter().any(|other| key.starts_with(other)) => None,
        _ => Some(5),
    }
}

/// Labels that all nodes inside have with few values, best first.
fn labels_that_all_nodes_have(inside: &[&Node], hints: &BTreeSet<String>) -> Vec<(u8, Label)> {
    let Some(first) = inside.first() else { return Vec::new() };
    let mut values: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for key in first.labels.keys() {
        for node in inside {
            match node.label(key) {
                Some(value) => drop(values.entry(key).or_default().insert(value.to_owned())),
                None => {
                    values.remove(key.as_str());
                    break;
                }
            }
        }
        // A value of its own for each node is the node's name or place.
        if values.get(key.as_str()).is_some_and(|v| {
            v.len() > MAX_VALUES || inside.len() > 1 && v.len() == inside.len() && v.len() > 2
        }) {
            values.remove(key.as_str());
        }
    }
    let ranked = values.into_iter().filter_map(|(key, values)| {
        Some((rank_of_label_key(key, first.provider(), hints)?, Label { key: key.to_owned(), values }))
    });
    let mut all: Vec<(u8, Label)> = ranked.collect();
    all.sort_by(|a, b| (a.0, a.1.values.len(), &a.1.key).cmp(&(b.0, b.1.values.len(), &b.1.key)));
    all.truncate(MAX_CANDIDATES);
    all
}

/// A fabric to be separated from all others.
struct Fabric<'a> {
    inside: Vec<&'a Node>,
    hints: BTreeSet<String>,
    candidates: Vec<(u8, Label)>,
}

/// The nodes with accelerators of a cluster, and the others.
pub(super) struct Machines<'a> {
    fabrics: Vec<Fabric<'a>>,
    /// All nodes with accelerators, each with its fabric; those first whose fabric is unknown.
    nodes: Vec<(&'a Node, Option<usize>)>,
    by_label: NodesByLabel<'a>,
    /// Nodes without accelerators.
    bare: NodesByLabel<'a>,
}

impl<'a> Machines<'a> {
    /// `fabrics` are the nodes of each fabric, and the labels by which policies select them.
    pub(super) fn new(
        unknown: &[&'a Node],
        fabrics: Vec<(Vec<&'a Node>, BTreeSet<String>)>,
        bare: &[&'a Node],
    ) -> Self {
        let fabric = |(inside, hints): (Vec<&'a Node>, BTreeSet<String>)| {
            let candidates = labels_that_all_nodes_have(&inside, &hints);
            Fabric { inside, hints, candidates }
        };
        let fabrics: Vec<Fabric<'a>> = fabrics.into_iter().map(fabric).collect();
        let mut nodes: Vec<(&Node, Option<usize>)> = unknown.iter().map(|node| (*node, None)).collect();
        for (at, fabric) in fabrics.iter().enumerate() {
            nodes.extend(fabric.inside.iter().map(|node| (*node, Some(at))));
        }
        let labels = fabrics.iter().flat_map(|fabric| &fabric.candidates);
        let keys: BTreeSet<&str> = labels.map(|(_, label)| label.key.as_str()).collect();
        let all: Vec<&Node> = nodes.iter().map(|(node, _)| *node).collect();
        let (by_label, bare) = (NodesByLabel::new(&all, &keys), NodesByLabel::new(bare, &keys));
        drop(keys);
        Self { fabrics, nodes, by_label, bare }
    }

    /// The nodes outside of a fabric that have a label, in their order.
    fn outside_nodes_with_label(&self, at: usize, label: &Label) -> Vec<&'a Node> {
        let mut found = self.by_label.nodes_with_label(&label.key, &label.values());
        found.sort_unstable();
        let nodes = found.into_iter().filter_map(|position| self.nodes.get(position));
        nodes.filter(|(_, fabric)| *fabric != Some(at)).map(|(node, _)| *node).collect()
    }

    /// How many nodes have a label.
    fn count_machines_with_label(&self, label: &Label) -> usize {
        self.by_label.count_nodes_with_label(&label.key, &label.values())
    }

    /// The nodes outside that have every label of the nodes inside which could select them.
    pub(super) fn outside_nodes_with_all_candidate_labels(&self, at: usize) -> Vec<&'a Node> {
        let Some(Fabric { candidates, .. }) = self.fabrics.get(at) else { return Vec::new() };
        let rarest = candidates.iter().min_by_key(|(_, label)| self.count_machines_with_label(label));
        let Some((_, rarest)) = rarest else {
            let outside = self.nodes.iter().filter(|(_, fabric)| *fabric != Some(at));
            return outside.map(|(node, _)| *node).collect();
        };
        let mut others = self.outside_nodes_with_label(at, rarest);
        others.retain(|node| candidates.iter().all(|(_, label)| label.node_has_label(node)));
        others
    }

    /// The labels of a selector for exactly the nodes inside: one, or two together. Labels that nodes without accelerators
    /// do not have are better.
    pub(super) fn labels_selecting_exactly(&self, at: usize) -> Option<Vec<Label>> {
        let Fabric { inside, candidates: all, .. } = self.fabrics.get(at)?;
        // All nodes inside have each of the labels.
        let only_inside = |label: &Label| self.count_machines_with_label(label) <= inside.len();
        let on_bare = |label: &Label| self.bare.count_nodes_with_label(&label.key, &label.values()) > 0;
        let mut single: Vec<(bool, &(u8, Label))> = all
            .iter()
            .filter(|(_, label)| only_inside(label))
            .map(|ranked| (on_bare(&ranked.1), ranked))
            .collect();
        single.sort_by_key(|(on_bare, (rank, _))| (*on_bare, *rank));
        if let Some((_, (_, label))) = single.first() {
            return Some(vec![label.clone()]);
        }
        for (place, (_, first)) in all.iter().enumerate() {
            for (_, second) in all.iter().skip(place + 1) {
                if !self.has_both(at, first, second) {
                    return Some(vec![first.clone(), second.clone()]);
                }
            }
        }
        let inside = self.fabrics.get(at).map(|fabric| fabric.inside.as_slice()).unwrap_or_default();
        let keys = inside.iter().flat_map(|node| node.labels.keys()).map(String::as_str);
        let keys_inside: BTreeSet<&str> = keys.collect();
        all.iter().find_map(|(_, label)| self.label_that_only_others_have(at, label, &keys_inside))
    }

    /// Whether a node outside has two labels.
    fn has_both(&self, at: usize, first: &Label, second: &Label) -> bool {
        let rarer = if self.count_machines_with_label(first) <= self.count_machines_with_label(second) {
            first
        } else {
            second
        };
        let nodes = self.by_label.nodes_with_label(&rarer.key, &rarer.values()).into_iter();
        let mut nodes = nodes.filter_map(|position| self.nodes.get(position));
        nodes.any(|(node, fabric)| {
            *fabric != Some(at) && first.node_has_label(node) && second.node_has_label(node)
        })
    }

    /// A label that all others with the same label have, and no node inside: often only the special nodes are labelled.
    fn label_that_only_others_have(
        &self,
        at: usize,
        label: &Label,
        keys_inside: &BTreeSet<&str>,
    ) -> Option<Vec<Label>> {
        let Fabric { hints, .. } = self.fabrics.get(at)?;
        let alike = self.outside_nodes_with_label(at, label);
        let first = alike.first()?;
        let marks = |key: &&String| {
            !keys_inside.contains(key.as_str())
                && rank_of_label_key(key, first.provider(), hints).is_some()
                && alike.iter().all(|node| node.label(key).is_some())
        };
        let mark = first.labels.keys().find(marks)?;
        Some(vec![label.clone(), Label { key: mark.clone(), values: BTreeSet::new() }])
    }
}
