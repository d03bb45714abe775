//! Resources that no network uses: InfiniBand devices, which need no interface in the pod.

use super::fields_with_origin::{
    DraftOrWithheld, Question, Resource, Sourced, hca, resource, unattached, withheld,
};
use super::groups_of_nodes::{COREWEAVE_FLAVOR, Group};
use super::node_as_shown::Provider;
use super::objects_of_cluster::Sources;
use super::resource_with_networks::Pool;
use crate::multus::LinkLayer;
use crate::profile::schema::{Per, Transport};
use crate::text::names_in_message;

pub(super) fn outcome_for_resources_without_network(
    group: &Group<'_>,
    accelerators: u64,
    pools: &[&Pool<'_>],
    sources: &Sources,
) -> DraftOrWithheld {
    let [pool] = pools else {
        let names: Vec<&str> = pools.iter().map(|pool| pool.name).collect();
        return withheld(
            format!(
                "the nodes have several resources of RDMA NICs, and no network uses them: {}",
                names_in_message(&names)
            ),
            "Which of these resources do training pods request, and how many units?",
        );
    };
    let flavor = group.sign.as_ref().filter(|(key, _)| key == COREWEAVE_FLAVOR);
    let by_label =
        flavor.and_then(|(key, value)| Some((LinkLayer::parse(value)?, format!("label {key}: {value}"))));
    let Some((link, from)) = pool.link().or(by_label) else {
        return withheld(
            format!(
                "no network takes devices of {}, and the link layer of these devices is not known",
                pool.name
            ),
            "Are these NICs InfiniBand or Ethernet (RoCE)? Do pods need a network for these NICs? Add the configuration of the \
             device plugin and the NetworkAttachmentDefinitions to the dump.",
        );
    };
    if link == LinkLayer::Ethernet || flavor.is_some_and(|(_, value)| value == "roce") {
        return withheld(
            format!(
                "{} has Ethernet NICs ({from}), but no network gives pods an interface on these NICs",
                pool.name
            ),
            "Which networks give pods these NICs? Or do the pods use the host network?",
        );
    }
    let name = Sourced::new(pool.name.to_owned(), pool.origin());
    let devices = if group.provider == Provider::CoreWeave {
        // CoreWeave's documentation and tests: one unit gives a container all InfiniBand devices of the node.
        let quantity = Sourced::new(1, "on CoreWeave, one unit gives access to all InfiniBand devices");
        Resource { name, quantity, per: Per::Container }
    } else if pool.supply.shared == Some(true) {
        let quantity = Sourced::new(1, "one unit gives access to all devices of the pool");
        Resource { name, quantity, per: Per::Container }
    } else if pool.supply.shared == Some(false) {
        let from = format!(
            "capacity of {}: {} units, {accelerators} accelerators",
            pool.units.nodes(),
            pool.units.units
        );
        resource(name, pool.units.units, accelerators, from)
    } else {
        return withheld(
            format!(
                "no object shows whether a unit of {} is one device or gives access to all devices",
                pool.name
            ),
            "How many units does a training pod request? Add the configuration of the device plugin to the dump.",
        );
    };
    let base = match group.provider {
        Provider::Azure => Some("azure-nd"),
        Provider::CoreWeave => Some("coreweave-infiniband"),
        _ => None,
    };
    // The names of CoreWeave's devices are documented.
    let mut questions = match group.provider {
        Provider::CoreWeave => Vec::new(),
        _ => vec![hca(base)],
    };
    // In a dump without networks, a network may be missing that pods need.
    if !sources.complete && !sources.kinds.contains("NetworkAttachmentDefinition") {
        questions.push(Question(
            "Do pods need a network for these NICs? The dump has no NetworkAttachmentDefinition.".to_owned(),
        ));
    }
    let transport = Sourced::new(Transport::Infiniband, from);
    let none = "no NetworkAttachmentDefinition names the resource";
    let mut fabric = unattached("ib", base, transport, none, vec![devices]);
    fabric.questions = questions;
    DraftOrWithheld::Fabric(Box::new(fabric))
}
