//! Shared HCAs behind macvlan and IPoIB: the interface comes from the network, the RDMA device from a slot of a pool.

use super::devices::named;
use super::fabric::{Fabric, Outcome, Question, Rail, Resource, Sourced, withheld};
use super::groups::Group;
use super::pool::Pool;
use super::sources::{Network, Sources};
use super::supply::is_mellanox;
use crate::multus::LinkLayer;
use crate::profile::schema::{Attachment, Per, Transport};

/// `None` if no network shares an HCA of the group.
pub(super) fn outcome(group: &Group<'_>, pools: &[&Pool<'_>], sources: &Sources) -> Option<Outcome> {
    let of = |network: &&Network| matches!(network.fact.class.plugin.as_deref(), Some("macvlan" | "ipoib"));
    let networks: Vec<&Network> = sources.networks.values().map(|(_, network)| network).filter(of).collect();
    let shared: Vec<&&Pool<'_>> = pools.iter().filter(|pool| pool.supply.shared != Some(false)).collect();
    if networks.is_empty() || shared.is_empty() {
        return None;
    }
    if let Some(pool) = shared.iter().find(|pool| pool.rdma() != Some(true)) {
        return Some(withheld(
            format!("no object describes the pool {}, so its NICs are unknown", pool.name),
            format!(
                "Which interfaces does {} have? Add the NicClusterPolicy, or the ConfigMap of the RDMA shared device \
                 plugin, to the dump.",
                pool.name
            ),
        ));
    }
    // A network is a rail if its interface is that of a pool. A pool without a list has every RDMA device of the node, so
    // only a network that stands alone can be its.
    let master = |network: &Network| network.fact.class.interface.clone();
    let listed = |network: &&&Network| {
        let on = |pool: &&&Pool<'_>| master(network).is_some_and(|of| pool.supply.interfaces.contains(&of));
        shared.iter().any(|pool| on(&pool))
    };
    let any = shared.iter().any(|pool| pool.supply.interfaces.is_empty());
    let mut rails: Vec<&Network> = networks.iter().filter(listed).copied().collect();
    if rails.is_empty() && any {
        rails = networks.clone();
        if rails.len() > 1 {
            let names: Vec<String> = rails.iter().map(|network| named(network)).collect();
            return Some(withheld(
                format!(
                    "no object says which of {} share the HCAs of {}",
                    names.join(", "),
                    pool_names(&shared)
                ),
                "Which of these networks are rails for training, and in which order?",
            ));
        }
    }
    if rails.is_empty() {
        return None;
    }
    rails.sort_by_key(|network| super::gke::natural(&named(network)));
    let first = rails.first()?;
    let attachment = |network: &Network| match network.fact.class.plugin.as_deref() {
        Some("ipoib") => Attachment::Ipoib,
        _ => Attachment::Macvlan,
    };
    if let Some(other) = rails.iter().find(|network| attachment(network) != attachment(first)) {
        return Some(withheld(
            format!("{} and {} attach in different ways", first.object, other.object),
            "Which networks are for training?",
        ));
    }
    Some(fabric(group, &rails, &shared, attachment(first)))
}

fn pool_names(pools: &[&&Pool<'_>]) -> String {
    pools.iter().map(|pool| pool.name).collect::<Vec<_>>().join(", ")
}

fn fabric(group: &Group<'_>, rails: &[&Network], shared: &[&&Pool<'_>], attachment: Attachment) -> Outcome {
    let link = if attachment == Attachment::Ipoib { LinkLayer::InfiniBand } else { LinkLayer::Ethernet };
    // macvlan needs Ethernet, IPoIB needs InfiniBand.
    let clash = shared.iter().find_map(|pool| pool.supply.links.iter().find(|(of, _)| *of != link));
    let object = rails.first().map(|network| network.object.clone()).unwrap_or_default();
    if let Some((_, other)) = clash {
        return withheld(
            format!("{object} and {other} disagree on the link layer"),
            "Which of them is right?",
        );
    }
    let used = |pool: &&&&Pool<'_>| {
        let interfaces = &pool.supply.interfaces;
        interfaces.is_empty()
            || rails.iter().any(|n| n.fact.class.interface.as_ref().is_some_and(|of| interfaces.contains(of)))
    };
    let resource = |pool: &&&Pool<'_>| Resource {
        name: Sourced::new(pool.name.to_owned(), pool.origin()),
        quantity: Sourced::new(1, "one slot gives access to all devices of the pool"),
        per: Per::Container,
    };
    let rail = |network: &&Network| {
        let master = network.fact.class.interface.as_deref();
        let from =
            master.map_or_else(|| network.object.clone(), |of| format!("{}: master {of}", network.object));
        Rail { network: Sourced::new(named(network), from), resource: None, count: None }
    };
    let supplies: Vec<_> = shared.iter().map(|pool| &pool.supply).collect();
    let mut questions = Vec::new();
    if is_mellanox(&group.nodes, &supplies).is_none() {
        questions.push(Question(
            "Are the NICs ConnectX or BlueField? The base sets NCCL_IB_HCA=mlx5, which fits only these."
                .to_owned(),
        ));
    }
    let (suffix, base, transport) = match link {
        LinkLayer::Ethernet => ("roce", "roce-macvlan", Transport::Roce),
        LinkLayer::InfiniBand => ("ib", "infiniband-ipoib", Transport::Infiniband),
    };
    let from = format!("{object}: its CNI plugin");
    Outcome::Fabric(Box::new(Fabric {
        suffix,
        base: Some(base),
        transport: Sourced::new(transport, from.clone()),
        attachment: Sourced::new(attachment, from),
        inject: None,
        rails: rails.iter().map(rail).collect(),
        resources: shared.iter().filter(used).map(resource).collect(),
        gke: Vec::new(),
        questions,
    }))
}
