//! Resources of device plugins, with or without networks of Multus: SR-IOV, whole devices, shared HCAs, and NICs that need
//! no network.

use super::fabric::{Outcome, withheld};
use super::groups::Group;
use super::sources::{Network, Sources};
use super::supply::{Supply, networks_of};
use super::{bare, devices, shared};
use crate::multus::LinkLayer;

/// A resource of a group with everything known about it.
pub(super) struct Pool<'a> {
    pub(super) name: &'a str,
    pub(super) units: &'a super::count::Count,
    pub(super) supply: Supply,
    /// Networks whose attachments take its units.
    pub(super) networks: Vec<&'a Network>,
}

impl Pool<'_> {
    /// Whether its devices have RDMA. A CNI chain with the plugin `rdma` moves RDMA devices, so there are some.
    pub(super) fn rdma(&self) -> Option<bool> {
        let isolated = self.networks.iter().any(|network| network.fact.class.isolation);
        self.supply.is_rdma().or(isolated.then_some(true))
    }

    /// Its link layer, with the object that says so.
    pub(super) fn link(&self) -> Option<(LinkLayer, String)> {
        let network = || {
            let known = self.networks.iter().find_map(|n| Some((n.fact.class.link?, n.object.clone())));
            known.map(|(link, object)| (link, format!("{object}: its CNI plugin")))
        };
        self.supply.links.first().cloned().or_else(network)
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

pub(super) fn outcome(group: &Group<'_>, accelerators: u64, sources: &Sources) -> Outcome {
    let of = |(name, units)| {
        let name: &String = name;
        let supply = Supply::of(name, &group.nodes, sources);
        Pool { name: name.as_str(), units, supply, networks: networks_of(name, sources) }
    };
    let pools: Vec<Pool<'_>> = group.resources.iter().map(of).collect();
    for pool in &pools {
        if let Some(contradiction) = pool.supply.contradiction(pool.name) {
            return withheld(contradiction, format!("Which of them is right about {}?", pool.name));
        }
        // A virtual function of one link layer cannot be attached by the plugin of the other.
        let clash = pool.supply.links.first().and_then(|(link, object)| {
            let other = pool.networks.iter().find(|n| n.fact.class.link.is_some_and(|l| l != *link))?;
            Some(format!("{object} and {} disagree on the link layer of {}", other.object, pool.name))
        });
        if let Some(clash) = clash {
            return withheld(clash, format!("Which of them is right about {}?", pool.name));
        }
    }
    let takes = |pool: &&Pool<'_>| pool.supply.shared != Some(true) && !pool.networks.is_empty();
    let (with_networks, rest): (Vec<&Pool<'_>>, Vec<&Pool<'_>>) = pools.iter().partition(takes);
    if !with_networks.is_empty() {
        return devices::outcome(group, accelerators, &with_networks);
    }
    match unread(sources) {
        Some(outcome) => outcome,
        None => match shared::outcome(group, &rest, sources) {
            Some(outcome) => outcome,
            None => bare::outcome(group, accelerators, &rest, sources),
        },
    }
}

/// Without the networks, a resource that needs one looks like a resource that needs none.
fn unread(sources: &Sources) -> Option<Outcome> {
    let why = sources.unread.get("NetworkAttachmentDefinition")?;
    Some(withheld(
        format!(
            "NetworkAttachmentDefinitions could not be read ({why}), so the networks of the nodes are unknown"
        ),
        "Run discover with an account that may list network-attachment-definitions.",
    ))
}
