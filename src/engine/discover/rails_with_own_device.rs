//! Rails whose attachments take a device each: virtual functions and whole devices.

use super::devices_behind_resource::{is_mellanox, link_by_class};
use super::fields_with_origin::{DraftOrWithheld, Fabric, Rail, Sourced, hca, withheld};
use super::groups_of_nodes::{Group, OKE_VF};
use super::node_as_shown::Provider;
use super::objects_of_cluster::Network;
use super::resource_with_networks::Pool;
use crate::multus::LinkLayer;
use crate::profile::schema::{Attachment, Transport};
use crate::text::names_in_message;
use std::collections::BTreeSet;

/// Most devices per accelerator that a pod takes where nothing says how many NICs they belong to. OCI's H100 machines have
/// two ports per GPU; more units are usually functions of the same NIC.
const MAX_PER_ACCELERATOR: u64 = 2;
/// Most rails of a profile.
const MAX_RAILS: u64 = 64;

pub(super) fn fabric_with_a_device_per_rail(
    group: &Group<'_>,
    accelerators: u64,
    pools: &[&Pool<'_>],
) -> DraftOrWithheld {
    for pool in pools {
        if pool.rdma() != Some(true) {
            return withheld(
                format!("no object says whether {} has RDMA devices", pool.name),
                format!(
                    "Does resource {} provide RDMA devices? Add the SriovNetworkNodePolicy or the device plugin's \
                     configuration to the dump.",
                    pool.name
                ),
            );
        }
    }
    let link_of = |pool: &Pool<'_>| pool.link().or_else(|| link_by_class(&group.nodes));
    let links: Vec<(LinkLayer, String)> = pools.iter().filter_map(|pool| link_of(pool)).collect();
    let Some(link) = links.first().filter(|_| links.len() == pools.len()) else {
        let names: Vec<&str> = pools.iter().filter(|p| link_of(p).is_none()).map(|p| p.name).collect();
        return withheld(
            format!("no object shows the link layer of {}", names_in_message(&names)),
            "Are these NICs Ethernet (RoCE) or InfiniBand?",
        );
    };
    if let Some((_, other)) = links.iter().find(|(of, _)| *of != link.0) {
        let names: Vec<&str> = pools.iter().map(|pool| pool.name).collect();
        return withheld(
            format!("{} have different link layers ({} and {other})", names_in_message(&names), link.1),
            "Which of these resources are for training?",
        );
    }
    let attachment = match attachment(pools, link.0) {
        Ok(attachment) => attachment,
        Err(outcome) => return outcome,
    };
    let mut rails = Vec::new();
    for pool in pools {
        match rail(pool, pools.len(), accelerators) {
            Ok(rail) => rails.push(rail),
            Err(outcome) => return outcome,
        }
    }
    rails.sort_by_key(|rail| super::gke_fabric::numeric_sort_key(&rail.network.value));
    let transport = match link.0 {
        LinkLayer::Ethernet => Transport::Roce,
        LinkLayer::InfiniBand => Transport::Infiniband,
    };
    let supplies: Vec<_> = pools.iter().map(|pool| &pool.supply).collect();
    let mellanox = is_mellanox(&group.nodes, &supplies);
    let amd = pools.iter().any(|pool| pool.is_amd());
    let base = match (link.0, attachment.value) {
        _ if amd => (attachment.value == Attachment::HostDevice).then_some("amd-host-device"),
        _ if mellanox == Some(false) => None,
        (LinkLayer::Ethernet, Attachment::Sriov) if group.provider == Provider::Oci => {
            Some(oke(pools, &rails))
        }
        (LinkLayer::Ethernet, Attachment::HostDevice) => Some("roce-host-device"),
        (LinkLayer::Ethernet, _) => Some("roce-sriov"),
        (LinkLayer::InfiniBand, _) => Some("infiniband-sriov"),
    };
    DraftOrWithheld::Fabric(Box::new(Fabric {
        suffix: if transport == Transport::Roce { "roce" } else { "ib" },
        base,
        transport: Sourced::new(transport, link.1.clone()),
        attachment,
        inject: None,
        rails,
        resources: Vec::new(),
        gke: Vec::new(),
        questions: vec![hca(base)],
    }))
}

/// The base with the settings of OCI's network, if the functions are those of Oracle's stack
/// (oracle-quickstart/oci-hpc-oke:manifests/nccl-tests/kueue/virtual-functions).
fn oke(pools: &[&Pool<'_>], rails: &[Rail]) -> &'static str {
    let count = rails.iter().map(|rail| rail.count.as_ref().map_or(1, |count| count.value)).sum();
    match (pools, count) {
        ([pool], 16_u64) if pool.name == OKE_VF => "oke-vf-16",
        ([pool], 8) if pool.name == OKE_VF => "oke-vf-8",
        _ => "roce-sriov",
    }
}

/// How the networks of all rails attach.
fn attachment(pools: &[&Pool<'_>], link: LinkLayer) -> Result<Sourced<Attachment>, DraftOrWithheld> {
    let mut found: Vec<Sourced<Attachment>> = Vec::new();
    for network in pools.iter().flat_map(|pool| pool.networks.iter()) {
        let of = match network.fact.class.plugin.as_deref() {
            Some("sriov") if link == LinkLayer::Ethernet => Attachment::Sriov,
            Some("ib-sriov") => Attachment::IbSriov,
            Some("host-device" | "amd-host-device") => Attachment::HostDevice,
            other => {
                let plugin = other.unwrap_or("of an unknown type");
                return Err(withheld(
                    format!(
                        "{} uses CNI plugin {plugin}, for which profiles have no attachment",
                        network.object
                    ),
                    "How does this network attach its NIC?",
                ));
            }
        };
        found.push(Sourced::new(of, format!("{}: its CNI plugin", network.object)));
    }
    let first = found.first().cloned();
    if let Some(first) = first {
        return match found.iter().find(|other| other.value != first.value) {
            None => Ok(first),
            Some(other) => Err(withheld(
                format!("{} and {} need different attachments", first.from, other.from),
                "Which networks are for training?",
            )),
        };
    }
    Err(super::nodes_without_nic_resource_or_claim::withheld_without_fabric_objects())
}

/// The network of a pool as pods name it. The same network in several namespaces is a copy for each tenant, and pods use
/// the one in their own.
fn network(pool: &Pool<'_>) -> Result<Sourced<String>, DraftOrWithheld> {
    let names: BTreeSet<&str> = pool.networks.iter().map(|network| network.name.as_str()).collect();
    match (names.len(), pool.networks.as_slice()) {
        (1, [only]) => Ok(Sourced::new(named(only), only.object.clone())),
        (1, [first, ..]) => Ok(Sourced::new(
            first.name.clone(),
            format!(
                "{} and {} more: each pod uses the network in its own namespace",
                first.object,
                pool.networks.len() - 1
            ),
        )),
        _ => {
            let objects: Vec<String> = pool.networks.iter().map(|network| named(network)).collect();
            Err(withheld(
                format!(
                    "{} networks take devices of {} ({})",
                    objects.len(),
                    pool.name,
                    names_in_message(&objects)
                ),
                "Which of these networks are rails for training, and in which order?",
            ))
        }
    }
}

pub(super) fn named(network: &Network) -> String {
    format!("{}/{}", network.namespace, network.name)
}

fn rail(pool: &Pool<'_>, pools: usize, accelerators: u64) -> Result<Rail, DraftOrWithheld> {
    let network = network(pool)?;
    let resource = Sourced::new(pool.name.to_owned(), pool.origin());
    // A pool per rail: one device of each.
    if pools > 1 {
        return Ok(Rail { network, resource: Some(resource), count: None });
    }
    let count = match (&pool.supply.nics, &pool.supply.per_nic) {
        (Some(nics), _) if nics.units > 0 && nics.do_most_nodes_agree() => {
            let nodes = nics.nodes();
            Sourced::new(
                nics.units,
                format!("SriovNetworkNodeStates: {} NICs with {} on {nodes}", nics.units, pool.name),
            )
        }
        (_, Some((vfs, policy))) if *vfs > 0 && pool.units.units.is_multiple_of(u64::from(*vfs)) => {
            let nics = pool.units.units / u64::from(*vfs);
            Sourced::new(
                nics,
                format!(
                    "{} units on {}, numVfs {vfs} per NIC in {policy}",
                    pool.units.units,
                    pool.units.nodes()
                ),
            )
        }
        _ if pool.units.units <= accelerators.saturating_mul(MAX_PER_ACCELERATOR) => Sourced::new(
            pool.units.units,
            format!(
                "{} units on {}; a pod with all accelerators takes all units",
                pool.units.units,
                pool.units.nodes()
            ),
        ),
        _ => {
            return Err(withheld(
                format!(
                    "a node has {} units of {} for {accelerators} accelerators, but no object shows how many NICs the units stand for",
                    pool.units.units, pool.name
                ),
                "How many NICs does a node have for training?",
            ));
        }
    };
    if count.value > MAX_RAILS {
        return Err(withheld(
            format!("{} rails of {} are more than a profile can have", count.value, pool.name),
            "How many NICs does a node have for training?",
        ));
    }
    Ok(Rail { network, resource: Some(resource), count: Some(count) })
}
