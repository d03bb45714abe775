//! Resources of device plugins, with or without networks of Multus: SR-IOV, whole devices, shared HCAs, and NICs that need
//! no network.

use super::devices_behind_resource::{Supply, networks_of};
use super::fields_with_origin::{DraftOrWithheld, withheld};
use super::groups_of_nodes::Group;
use super::objects_of_cluster::Sources;
use super::resource_with_networks::Pool;
use super::{rails_with_own_device, resources_without_network, shared_hca_rails};

pub(super) fn fabric_of_device_plugin_resources(
    group: &Group<'_>,
    accelerators: u64,
    sources: &Sources,
) -> DraftOrWithheld {
    let of = |(name, units)| {
        let name: &String = name;
        let supply = Supply::devices_behind(name, &group.nodes, sources);
        Pool { name: name.as_str(), units, supply, networks: networks_of(name, sources) }
    };
    let pools: Vec<Pool<'_>> = group.resources.iter().map(of).collect();
    for pool in &pools {
        if let Some(contradiction) = pool.supply.contradiction_of_sources(pool.name) {
            return withheld(
                contradiction,
                format!("Which of the two objects is right about {}?", pool.name),
            );
        }
        // A virtual function of one link layer cannot be attached by the plugin of the other.
        let clash = pool.supply.links.first().and_then(|(link, object)| {
            let other = pool.networks.iter().find(|n| n.fact.class.link.is_some_and(|l| l != *link))?;
            Some(format!("{object} and {} disagree on the link layer of {}", other.object, pool.name))
        });
        if let Some(clash) = clash {
            return withheld(clash, format!("Which of the two objects is right about {}?", pool.name));
        }
    }
    let takes = |pool: &&Pool<'_>| pool.supply.shared != Some(true) && !pool.networks.is_empty();
    let (with_networks, rest): (Vec<&Pool<'_>>, Vec<&Pool<'_>>) = pools.iter().partition(takes);
    if !with_networks.is_empty() {
        return rails_with_own_device::fabric_with_a_device_per_rail(group, accelerators, &with_networks);
    }
    match unknown_since_facts_are_unread(sources) {
        Some(outcome) => outcome,
        None => match shared_hca_rails::fabric_with_shared_hcas(group, &rest, sources) {
            Some(outcome) => outcome,
            None => resources_without_network::outcome_for_resources_without_network(
                group,
                accelerators,
                &rest,
                sources,
            ),
        },
    }
}

/// Without the networks, a resource that needs one looks like a resource that needs none.
fn unknown_since_facts_are_unread(sources: &Sources) -> Option<DraftOrWithheld> {
    let why = sources.unread.get("NetworkAttachmentDefinition")?;
    Some(withheld(
        format!(
            "NetworkAttachmentDefinitions could not be read ({why}), so the networks of the nodes are unknown"
        ),
        "Run discover with an account that may list network-attachment-definitions.",
    ))
}
