//! The nodes and NICs that a SriovNetworkNodePolicy selects.

use crate::facts::NodePolicy;
use crate::facts::sriov_node_state::Interface;
use crate::multus::LinkLayer;
use crate::nodes::Requirement;
use crate::rules::object_context::ObjectContext;

/// Conditions of a policy on nodes.
pub(super) fn requirements(policy: &NodePolicy) -> Vec<Requirement<'_>> {
    policy.nodes.iter().map(|(key, value)| Requirement::equals(key, value)).collect()
}

/// NICs that the policy takes, each with the first node that has it, where the node's labels and NICs are known.
pub(super) fn nics<'c>(context: &'c ObjectContext<'_>) -> impl Iterator<Item = (&'c str, &'c Interface)> {
    context.taken_nics().iter().copied()
}

/// Words for a link layer, as the operator writes it.
pub(super) fn word(link: LinkLayer) -> &'static str {
    match link {
        LinkLayer::Ethernet => "eth",
        LinkLayer::InfiniBand => "ib",
    }
}
