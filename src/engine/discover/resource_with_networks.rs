//! An extended resource of a group of nodes, with the networks that use it.

use super::counts_over_nodes::Count;
use super::devices_behind_resource::Supply;
use super::objects_of_cluster::Network;
use crate::multus::LinkLayer;

/// A resource of a group with everything known about it.
pub(super) struct Pool<'a> {
    pub(super) name: &'a str,
    pub(super) units: &'a Count,
    pub(super) supply: Supply,
    /// Networks whose attachments take its units.
    pub(super) networks: Vec<&'a Network>,
}

/// Resources of the AMD network operator: physical and virtual functions of AMD's RoCE NICs
/// (ROCm/network-operator:docs/secondary_network/amd-host-device-cni.md).
const AMD: [&str; 2] = ["amd.com/nic", "amd.com/vnic"];

impl Pool<'_> {
    /// Whether its devices have RDMA. A CNI chain with the plugin `rdma` moves RDMA devices, so there are some.
    pub(super) fn rdma(&self) -> Option<bool> {
        let isolated = self.networks.iter().any(|network| network.fact.class.isolation);
        self.supply.is_rdma().or((isolated || self.is_amd()).then_some(true))
    }

    /// Whether its devices are NICs of AMD.
    pub(super) fn is_amd(&self) -> bool {
        AMD.contains(&self.name)
    }

    /// Its link layer, with the object that says so.
    pub(super) fn link(&self) -> Option<(LinkLayer, String)> {
        let network = || {
            let known = self.networks.iter().find_map(|n| Some((n.fact.class.link?, n.object.clone())));
            known.map(|(link, object)| (link, format!("{object}: its CNI plugin")))
        };
        let amd = || {
            self.is_amd().then(|| (LinkLayer::Ethernet, format!("resource {}: RoCE NICs of AMD", self.name)))
        };
        self.supply.links.first().cloned().or_else(network).or_else(amd)
    }

    /// Where its name comes from: the nodes that list it, and the object that configures it.
    pub(super) fn origin(&self) -> String {
        let nodes = format!("capacity of {}", self.units.nodes());
        match self.supply.rdma.iter().map(|(_, object)| object).find(|object| !object.is_empty()) {
            Some(object) => format!("{nodes}; {object}"),
            None => nodes,
        }
    }
}
