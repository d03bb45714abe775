//! Signs of NICs in the labels and resources of nodes. Node Feature Discovery itself knows RDMA only by vendor 15b3 and by two
//! kernel modules (kubernetes-sigs/node-feature-discovery:source/custom/static_features.go); EFA, Broadcom's and AMD's NICs
//! get neither label.

use super::devices_behind_resource::{MELLANOX, Supply};
use super::node_as_shown::Node;
use super::objects_of_cluster::Sources;
use crate::pod::AcceleratorNames;
use std::collections::BTreeSet;

pub(super) const NFD: &str = "feature.node.kubernetes.io/";
const PCI: &str = "feature.node.kubernetes.io/pci-";
/// Labels of Node Feature Discovery for loaded RDMA modules and for NICs of vendor 15b3; the spelling depends on its
/// version and on the rules of its worker.
const RDMA_LABELS: [&str; 4] = [
    "feature.node.kubernetes.io/rdma.available",
    "feature.node.kubernetes.io/rdma.capable",
    "feature.node.kubernetes.io/custom-rdma.available",
    "feature.node.kubernetes.io/custom-rdma.capable",
];

/// PCI vendors whose NICs have a driver in Linux (drivers/infiniband/hw) and that make no GPU or display controller, so that
/// a label with only the vendor is that of a NIC: Broadcom, AMD Pensando, Amazon, Intel, Chelsio, Marvell, Alibaba.
const NIC_VENDORS: [&str; 7] = ["14e4", "1dd8", "1d0f", "8086", "1425", "1077", "1ded"];
/// PCI vendors of virtual NICs (virtio, Google's gVNIC), for which Linux has no RDMA driver.
const WITHOUT_RDMA: [&str; 2] = ["1af4", "1ae0"];
/// First digits of the PCI classes of network controllers.
const NETWORK_CLASS: &str = "02";
/// Resources of device plugins that are not for NICs of training, by prefix: KubeVirt's devices, and the branch interfaces
/// and addresses of Amazon's VPC controller.
const NOT_NICS: [&str; 3] =
    ["devices.kubevirt.io/", "vpc.amazonaws.com/pod-eni", "vpc.amazonaws.com/PrivateIPv4Address"];

/// Prefix of GKE's resources for networks; `….IP` counts addresses.
pub(super) const GKE_NETWORKS: &str = "networking.gke.io.networks/";

/// The fields of the labels of PCI devices, with the labels: class, vendor and more, or only the vendor.
fn pci_labels(node: &Node) -> impl Iterator<Item = (Vec<&str>, &str)> {
    node.labels.iter().filter(|(_, value)| *value == "true").filter_map(|(key, _)| {
        let fields = key.strip_prefix(PCI)?.split('.').next()?;
        Some((fields.split('_').collect(), key.as_str()))
    })
}

/// Whether these are the fields of a NIC.
fn is_nic(fields: &[&str]) -> bool {
    match fields {
        // The class of Ethernet, which every machine has.
        [class] if *class == "0200" => false,
        [first, ..] => first.starts_with(NETWORK_CLASS) || NIC_VENDORS.contains(first),
        [] => false,
    }
}

/// Label of a node that shows an RDMA NIC of vendor 15b3, or a loaded driver.
pub(super) fn rdma_label(node: &Node) -> Option<String> {
    let named = RDMA_LABELS.iter().find(|key| node.label(key) == Some("true")).map(|key| (*key).to_owned());
    named.or_else(|| {
        pci_labels(node).find(|(fields, _)| fields.contains(&MELLANOX)).map(|(_, key)| key.to_owned())
    })
}

/// Label of a node that shows a NIC which may have RDMA.
pub(super) fn nic_label(node: &Node) -> Option<&str> {
    let virtual_nic = |fields: &[&str]| fields.iter().any(|field| WITHOUT_RDMA.contains(field));
    pci_labels(node).find(|(fields, _)| is_nic(fields) && !virtual_nic(fields)).map(|(_, key)| key)
}

/// Whether the labels of a node show its NICs.
pub(super) fn has_nic_label(node: &Node) -> bool {
    pci_labels(node).any(|(parse_fields, _)| {
        is_nic(&parse_fields) || parse_fields.iter().any(|field| WITHOUT_RDMA.contains(field))
    })
}

/// Whether a resource counts the IP addresses of a GKE network, and not its interfaces.
pub(super) fn is_gke_address(resource: &str) -> bool {
    resource.strip_prefix(GKE_NETWORKS).is_some_and(|network| network.ends_with(".IP"))
}

/// Whether a resource is not for NICs of training.
pub(super) fn is_resource_without_training_nics(resource: &str) -> bool {
    is_gke_address(resource) || NOT_NICS.iter().any(|prefix| resource.starts_with(prefix))
}

/// A resource that is not one of accelerators, and that no object describes.
pub(super) fn unknown_resource<'a>(nodes: &[&'a Node], sources: &Sources) -> Option<&'a str> {
    let accelerators = AcceleratorNames::default();
    let known = |name: &str| {
        accelerators.contains(name)
            || is_resource_without_training_nics(name)
            || Supply::devices_behind(name, nodes, sources).is_rdma().is_some()
    };
    let mut asked = BTreeSet::new();
    nodes.iter().copied().flat_map(Node::resources).find(|name| asked.insert(*name) && !known(name))
}
