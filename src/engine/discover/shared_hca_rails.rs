//! Shared HCAs behind macvlan and IPoIB: the interface comes from the network, the RDMA device from a slot of a pool.

use super::devices_behind_resource::{COMPARISONS_OF_OBJECT, is_mellanox};
use super::fields_with_origin::{DraftOrWithheld, Fabric, Rail, Resource, Sourced, hca, withheld};
use super::groups_of_nodes::{COREWEAVE_FLAVOR, Group};
use super::node_as_shown::Provider;
use super::objects_of_cluster::{Network, Sources};
use super::rails_with_own_device::named;
use super::resource_with_networks::Pool;
use crate::multus::LinkLayer;
use crate::profile::schema::{Attachment, Per, Transport};
use crate::text::names_in_message;

/// Namespace of CoreWeave's networks for RoCE nodes, and the flavor of these nodes.
const COREWEAVE_NETWORKS: &str = "cw-multus";
const COREWEAVE_ROCE: &str = "roce";
/// Networks of a GB300 node (coreweave/nccl-tests:mpi-operator/nccl-test-distributed-gb300-roce-nvl72-mpijob.yaml).
const COREWEAVE_RAILS: usize = 16;

/// Whether a network is over a NIC of a pool; `None` if no object says so.
fn does_network_fit_pool(network: &Network, pool: &Pool<'_>) -> Option<bool> {
    let interfaces = &pool.supply.interfaces;
    if !interfaces.is_empty() {
        return Some(network.fact.class.interface.as_ref().is_some_and(|of| interfaces.contains(of)));
    }
    // A pool without a list has every RDMA device of the node.
    match (pool.supply.links.first(), network.child_link()) {
        (Some((link, _)), of) => Some(of == Some(*link)),
        // IPoIB is only possible over an RDMA device.
        (None, Some(LinkLayer::InfiniBand)) => Some(true),
        _ => None,
    }
}

/// `None` if no network shares an HCA of the group.
pub(super) fn fabric_with_shared_hcas(
    group: &Group<'_>,
    pools: &[&Pool<'_>],
    sources: &Sources,
) -> Option<DraftOrWithheld> {
    let networks: Vec<&Network> = sources.child_networks().collect();
    let shared: Vec<&&Pool<'_>> = pools.iter().filter(|pool| pool.supply.shared != Some(false)).collect();
    let each = shared.len().saturating_add(COMPARISONS_OF_OBJECT);
    let within_limit = sources.comparisons.count(networks.len().saturating_mul(each));
    if networks.is_empty() || shared.is_empty() || !within_limit {
        return None;
    }
    let flavor = group.sign.as_ref().filter(|(key, _)| key == COREWEAVE_FLAVOR);
    let rails = if flavor.is_some_and(|(_, flavor)| flavor == COREWEAVE_ROCE) {
        networks.iter().filter(|network| network.namespace == COREWEAVE_NETWORKS).copied().collect()
    } else if flavor.is_some() {
        return None;
    } else {
        match of_pools(&networks, &shared) {
            Ok(rails) => rails,
            Err(outcome) => return Some(outcome),
        }
    };
    if rails.is_empty() {
        return None;
    }
    let mut rails: Vec<&Network> = rails;
    rails.sort_by_key(|network| super::gke_fabric::numeric_sort_key(&named(network)));
    let first = rails.first()?;
    let attachment = |network: &Network| match network.fact.class.plugin.as_deref() {
        Some("ipoib") => Attachment::Ipoib,
        _ => Attachment::Macvlan,
    };
    if let Some(other) = rails.iter().find(|network| attachment(network) != attachment(first)) {
        return Some(withheld(
            format!("{} and {} need different attachments", first.object, other.object),
            "Which networks are for training?",
        ));
    }
    Some(fabric_of_shared_rails(group, &rails, &shared, attachment(first)))
}

/// The networks over the NICs of the pools.
fn of_pools<'a>(
    networks: &[&'a Network],
    shared: &[&&Pool<'_>],
) -> Result<Vec<&'a Network>, DraftOrWithheld> {
    if let Some(pool) = shared.iter().find(|pool| pool.rdma() != Some(true)) {
        return Err(withheld(
            format!("no object describes the pool {}, so its NICs are unknown", pool.name),
            format!(
                "Which interfaces does {} have? Add the NicClusterPolicy, or the ConfigMap of the RDMA shared device plugin, \
                 to the dump.",
                pool.name
            ),
        ));
    }
    let of = |wanted: Option<bool>| -> Vec<&'a Network> {
        let any =
            |network: &&&Network| shared.iter().any(|pool| does_network_fit_pool(network, pool) == wanted);
        networks.iter().filter(any).copied().collect()
    };
    let rails = of(Some(true));
    let listed = shared.iter().all(|pool| !pool.supply.interfaces.is_empty());
    let open = if rails.is_empty() { of(None) } else { rails.clone() };
    let ambiguous = rails.is_empty() || !listed && rails.len() > 1;
    if ambiguous && !open.is_empty() {
        let names: Vec<String> = open.iter().map(|network| named(network)).collect();
        return Err(withheld(
            format!(
                "no object shows which of these networks use the HCAs of {} ({})",
                pool_names(shared),
                names_in_message(&names)
            ),
            "Which of these networks are rails for training, and in which order?",
        ));
    }
    Ok(rails)
}

fn pool_names(pools: &[&&Pool<'_>]) -> String {
    pools.iter().map(|pool| pool.name).collect::<Vec<_>>().join(", ")
}

fn fabric_of_shared_rails(
    group: &Group<'_>,
    rails: &[&Network],
    shared: &[&&Pool<'_>],
    attachment: Attachment,
) -> DraftOrWithheld {
    let link = if attachment == Attachment::Ipoib { LinkLayer::InfiniBand } else { LinkLayer::Ethernet };
    // macvlan needs Ethernet, IPoIB needs InfiniBand.
    let clash = shared.iter().find_map(|pool| pool.supply.links.iter().find(|(of, _)| *of != link));
    let object = rails.first().map(|network| network.object.clone()).unwrap_or_default();
    if let Some((_, other)) = clash {
        return withheld(
            format!("{object} and {other} disagree on the link layer"),
            "Which of the two objects is right?",
        );
    }
    let used = |pool: &&&&Pool<'_>| {
        let interfaces = &pool.supply.interfaces;
        interfaces.is_empty()
            || rails.iter().any(|n| n.fact.class.interface.as_ref().is_some_and(|of| interfaces.contains(of)))
    };
    let resource = |pool: &&&Pool<'_>| Resource {
        name: Sourced::new(pool.name.to_owned(), pool.origin()),
        quantity: Sourced::new(1, "one unit gives access to all devices of the pool"),
        per: Per::Container,
    };
    let rail = |network: &&Network| {
        let master = network.fact.class.interface.as_deref();
        let from =
            master.map_or_else(|| network.object.clone(), |of| format!("{}: master {of}", network.object));
        Rail { network: Sourced::new(named(network), from), resource: None, count: None }
    };
    let supplies: Vec<_> = shared.iter().map(|pool| &pool.supply).collect();
    let (suffix, base, transport) = match link {
        LinkLayer::Ethernet => ("roce", "roce-macvlan", Transport::Roce),
        LinkLayer::InfiniBand => ("ib", "infiniband-ipoib", Transport::Infiniband),
    };
    // CoreWeave's devices have names of their own (ibp0), and the base has its 16 networks.
    let coreweave = group.provider == Provider::CoreWeave;
    let base = match is_mellanox(&group.nodes, &supplies) {
        _ if coreweave => (rails.len() == COREWEAVE_RAILS).then_some("coreweave-roce"),
        Some(false) => None,
        _ => Some(base),
    };
    let from = format!("{object}: its CNI plugin");
    DraftOrWithheld::Fabric(Box::new(Fabric {
        suffix,
        base,
        transport: Sourced::new(transport, from.clone()),
        attachment: Sourced::new(attachment, from),
        inject: None,
        rails: rails.iter().map(rail).collect(),
        resources: shared.iter().filter(used).map(resource).collect(),
        gke: Vec::new(),
        questions: if coreweave && base.is_some() { Vec::new() } else { vec![hca(base)] },
    }))
}
