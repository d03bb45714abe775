//! The RDMA mode of the nodes that serve a network.

use crate::facts::ResourceOnAllNodes;
use crate::rules::devices_of_pod::KnownNetwork;
use crate::rules::object_context::ObjectContext;
use crate::rules::pod_context::PodContext;

/// The nodes that serve a network's resource.
pub(super) fn nodes_serving_network<'a>(
    known: &KnownNetwork<'a>,
    facts: &'a crate::facts::ClusterFacts,
) -> Option<&'a ResourceOnAllNodes> {
    facts.node_facts_of_sriov_resource(known.class.resource?)
}

/// Reports the networks of a pod for which a condition holds.
pub(super) fn report_networks_of_pod_where(
    context: &PodContext<'_>,
    holds: fn(&KnownNetwork<'_>, &ResourceOnAllNodes) -> bool,
    report: &mut dyn FnMut(String, &KnownNetwork<'_>),
) {
    if context.pod().host_network() {
        return;
    }
    let facts = context.subject.snapshot.cluster_facts_for_audience();
    for network in &context.devices().networks {
        if let Some(known) = network.known
            && nodes_serving_network(&known, facts).is_some_and(|site| holds(&known, site))
        {
            report(network.describe(), &known);
        }
    }
}

/// Whether a condition holds for a network object.
pub(super) fn does_hold_for_network_object(
    context: &ObjectContext<'_>,
    holds: fn(&KnownNetwork<'_>, &ResourceOnAllNodes) -> bool,
) -> bool {
    let Some(network) = context.network_made_of_object() else { return false };
    let class = context.snapshot.network_class_by_all_facts(&network.fact);
    let known = KnownNetwork { fact: &network.fact, class };
    nodes_serving_network(&known, context.snapshot.cluster_facts_for_audience())
        .is_some_and(|site| holds(&known, site))
}

/// Whether the nodes of a network object are in RDMA mode shared, where plugin rdma refuses to run.
pub(in crate::rules) fn are_nodes_in_shared_rdma_mode(context: &ObjectContext<'_>) -> bool {
    does_hold_for_network_object(context, |_, site| site.exclusive == Some(false))
}

/// The fix for plugin rdma after ib-sriov on nodes in shared RDMA mode.
pub(in crate::rules) const REMOVE_RDMA_PLUGIN: &str =
    "Remove plugin rdma: in shared RDMA mode, pods see the RDMA device without this plugin.";

/// The path of a network object's chain of plugins.
pub(super) fn pointer_of_plugin_chain(context: &ObjectContext<'_>) -> &'static str {
    match context.kind {
        "NetworkAttachmentDefinition" => "/spec/config",
        _ => "/spec/metaPlugins",
    }
}
