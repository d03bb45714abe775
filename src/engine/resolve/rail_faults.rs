//! Faults between the rails of a profile: its networks, address pools and NICs are the platform team's, and every pod of
//! the profile has them alike. The profile's status and its review report them, not each pod.

use super::MissingNetworkOrResource;
use crate::multus::ipam::NvIpamPoolName;
use crate::multus::subnet::first_two_members_that_overlap;
use crate::profile::{Profile, Rail};
use crate::snapshot::Snapshot;
use std::collections::{BTreeMap, BTreeSet};

/// A fault that every pod of the profile has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RailFault {
    /// The network or resource at which to report it, as the profile writes it.
    pub at: MissingNetworkOrResource,
    /// What is wrong, and the consequence.
    pub message: String,
    /// What to do.
    pub fix: &'static str,
}

/// The faults between the rails, by the known facts. Networks of the pod's own namespace are not known here.
#[must_use]
pub fn rail_faults(profile: &Profile, snapshot: &Snapshot) -> Vec<RailFault> {
    let mut faults = Vec::new();
    faults.extend(shared_subnet(profile, snapshot));
    faults.extend(small_pools(profile, snapshot));
    faults.extend(mixed_mtu(profile, snapshot));
    faults
}

fn at_network(rail: &Rail) -> MissingNetworkOrResource {
    MissingNetworkOrResource::Network(rail.network.to_string())
}

fn shared_subnet(profile: &Profile, snapshot: &Snapshot) -> Option<RailFault> {
    let mut subnets = Vec::new();
    for (index, rail) in profile.rails.iter().enumerate() {
        let Some(namespace) = rail.network.namespace.as_deref() else { continue };
        let fact = snapshot.network(namespace, &rail.network.name);
        subnets.extend(
            fact.into_iter()
                .flat_map(|f| snapshot.subnets_that_must_not_overlap(namespace, f))
                .map(|s| (*s, index)),
        );
    }
    let (subnet, first, second) = first_two_members_that_overlap(subnets)?;
    let (first, second) = (profile.rails.get(first)?, profile.rails.get(second)?);
    Some(RailFault {
        at: at_network(second),
        message: format!(
            "rails {} ({}) and {} ({}) share subnet {subnet}: Linux sends through only one of the two interfaces",
            first.interface, first.network, second.interface, second.network
        ),
        fix: "Use one subnet per rail, or add plugin sbr to each network.",
    })
}

fn small_pools(profile: &Profile, snapshot: &Snapshot) -> Vec<RailFault> {
    let mut pools: BTreeMap<&str, (u64, &NvIpamPoolName, &Rail)> = BTreeMap::new();
    for rail in &profile.rails {
        let fact = rail.network.namespace.as_deref().and_then(|ns| snapshot.network(ns, &rail.network.name));
        let pool = fact.and_then(|f| f.addressing.ipam.as_ref()?.pool.as_ref()).filter(|p| !p.cidr);
        if let Some(pool) = pool {
            pools.entry(&pool.name).or_insert((0, pool, rail)).0 += 1;
        }
    }
    let small = pools.into_iter().filter_map(|(name, (count, pool, rail))| {
        let per_node = snapshot.cluster_facts_for_audience().address_pool(pool)?.per_node.filter(|n| *n < count && *n > 0)?;
        Some(RailFault {
            at: at_network(rail),
            message: format!(
                "{count} rails take addresses from IPPool \"{name}\", whose perNodeBlockSize is only {per_node}: pods stay in ContainerCreating"
            ),
            fix: "Raise perNodeBlockSize to the number of addresses that all pods of one node need.",
        })
    });
    small.collect()
}

fn mixed_mtu(profile: &Profile, snapshot: &Snapshot) -> Vec<RailFault> {
    let names: BTreeSet<&str> = profile.rails.iter().filter_map(|r| r.resource.as_deref()).collect();
    let mixed = names.into_iter().filter_map(|name| {
        let fact = snapshot.resource(name).filter(|fact| fact.rdma == Some(true))?;
        let (low, high) = snapshot.cluster_facts_for_audience().node_facts_of_sriov_resource(fact)?.mtu.filter(|(low, high)| low != high)?;
        Some(RailFault {
            at: MissingNetworkOrResource::Resource(name.to_owned()),
            message: format!(
                "the NICs of resource {name} have different MTUs ({low} to {high}): all ranks use the smallest MTU"
            ),
            fix: "Set the same mtu in all SriovNetworkNodePolicies of the resource.",
        })
    });
    mixed.collect()
}
