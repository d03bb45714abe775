//! Labels that separate the nodes of a fabric from all other nodes with accelerators.

use super::groups_of_nodes::POOLS;
use super::label_with_values::Label;
use super::node_as_shown::{GKE_ACCELERATOR, INSTANCE_TYPE, Node, PRODUCT, Provider};
use super::nodes_with_labels::{Alike, NodesWithLabels, TooManyLooks};
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
    /// Labels that all nodes inside have, best first: ranks, and places in the list of all labels.
    candidates: Vec<(u8, usize)>,
}

impl Fabric<'_> {
    /// The candidates without their ranks.
    fn labels(&self) -> impl Iterator<Item = usize> + '_ {
        self.candidates.iter().map(|(_, label)| *label)
    }
}

/// The nodes with accelerators of a cluster, and the others.
pub(super) struct Machines<'a> {
    fabrics: Vec<Fabric<'a>>,
    nodes: NodesWithLabels<'a>,
}

impl<'a> Machines<'a> {
    /// `fabrics` are the nodes of each fabric, and the labels by which policies select them.
    pub(super) fn new(
        unknown: &[&'a Node],
        fabrics: Vec<(Vec<&'a Node>, BTreeSet<String>)>,
        bare: &[&'a Node],
    ) -> Self {
        let mut labels: BTreeMap<Label, usize> = BTreeMap::new();
        let mut place = |label: Label| {
            let next = labels.len();
            *labels.entry(label).or_insert(next)
        };
        let fabric = |(inside, hints): (Vec<&'a Node>, BTreeSet<String>)| {
            let found = labels_that_all_nodes_have(&inside, &hints).into_iter();
            let candidates = found.map(|(rank, label)| (rank, place(label))).collect();
            Fabric { inside, hints, candidates }
        };
        let fabrics: Vec<Fabric<'a>> = fabrics.into_iter().map(fabric).collect();
        let mut nodes: Vec<(&Node, Option<usize>)> = unknown.iter().map(|node| (*node, None)).collect();
        for (at, fabric) in fabrics.iter().enumerate() {
            nodes.extend(fabric.inside.iter().map(|node| (*node, Some(at))));
        }
        let mut labels: Vec<(Label, usize)> = labels.into_iter().collect();
        labels.sort_unstable_by_key(|(_, place)| *place);
        let labels = labels.into_iter().map(|(label, _)| label).collect();
        Self { fabrics, nodes: NodesWithLabels::new(nodes, labels, bare) }
    }

    /// The nodes outside that have every label of the nodes inside which could select them: the first two, and how many.
    pub(super) fn outside_nodes_with_all_candidate_labels(
        &mut self,
        at: usize,
    ) -> Result<(Vec<&'a Node>, usize), TooManyLooks> {
        let Some(fabric) = self.fabrics.get(at) else { return Ok((Vec::new(), 0)) };
        let labels: Vec<usize> = fabric.labels().collect();
        let alike = self.nodes.nodes_with_all(&labels)?;
        let first = alike.outside(at).take(2).collect();
        // All nodes inside have all of the labels.
        Ok((first, alike.count.saturating_sub(fabric.inside.len())))
    }

    /// The labels of a selector for exactly the nodes inside: one, or two together. Labels that nodes without accelerators
    /// do not have are better.
    pub(super) fn labels_selecting_exactly(&mut self, at: usize) -> Result<Option<Vec<Label>>, TooManyLooks> {
        let Some(fabric) = self.fabrics.get(at) else { return Ok(None) };
        // All nodes inside have each of the labels.
        let only_inside = |label: usize| self.nodes.count_with_label(label) <= fabric.inside.len();
        let single = fabric.candidates.iter().filter(|(_, label)| only_inside(*label));
        let best = single.min_by_key(|(rank, label)| (self.nodes.do_bare_nodes_have(*label), *rank));
        if let Some((_, label)) = best {
            return Ok(Some(self.nodes.copies_of_labels(&[*label])));
        }
        for (place, (_, first)) in fabric.candidates.iter().enumerate() {
            for (_, second) in fabric.candidates.iter().skip(place + 1) {
                if self.nodes.nodes_with_both(*first, *second)?.outside(at).next().is_none() {
                    return Ok(Some(self.nodes.copies_of_labels(&[*first, *second])));
                }
            }
        }
        let keys = fabric.inside.iter().flat_map(|node| node.labels.keys()).map(String::as_str);
        let keys_inside: BTreeSet<&str> = keys.collect();
        for label in fabric.labels() {
            if let Some(mark) = label_that_only_others_have(&mut self.nodes, at, fabric, label, &keys_inside)?
            {
                let mut labels = self.nodes.copies_of_labels(&[label]);
                labels.push(Label { key: mark.to_owned(), values: BTreeSet::new() });
                return Ok(Some(labels));
            }
        }
        Ok(None)
    }
}

/// A label that all others with the same label have, and no node inside: often only the special nodes are labelled.
fn label_that_only_others_have<'a>(
    nodes: &mut NodesWithLabels<'a>,
    at: usize,
    fabric: &Fabric<'a>,
    label: usize,
    keys_inside: &BTreeSet<&str>,
) -> Result<Option<&'a str>, TooManyLooks> {
    let others = nodes.count_with_label(label).saturating_sub(fabric.inside.len());
    let (alike, keys_by_count) = nodes.other_labels_of_nodes_with(label)?;
    let Some(first) = Alike::outside(alike, at).next() else { return Ok(None) };
    // No node inside has the mark, so as many nodes have it as there are others: these are all others.
    let marks = keys_by_count.get(&others).into_iter().flatten().copied().filter(|key| {
        !keys_inside.contains(key) && rank_of_label_key(key, first.provider(), &fabric.hints).is_some()
    });
    Ok(marks.min())
}
