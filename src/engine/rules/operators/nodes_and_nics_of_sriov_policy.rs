//! The nodes and NICs that a SriovNetworkNodePolicy selects.

use crate::facts::SriovNodePolicy;
use crate::facts::sriov_node_state::PhysicalFunction;
use crate::multus::LinkLayer;
use crate::nodes::LabelRequirement;
use crate::rules::object_context::ObjectContext;

/// Conditions of a policy on nodes.
pub(super) fn node_requirements_of_policy(policy: &SriovNodePolicy) -> Vec<LabelRequirement<'_>> {
    policy.nodes.iter().map(|(key, value)| LabelRequirement::key_equals_value(key, value)).collect()
}

/// NICs that the policy takes, each with the first node that has it, where the node's labels and NICs are known.
pub(super) fn nics_that_policy_takes<'c>(
    context: &'c ObjectContext<'_>,
) -> impl Iterator<Item = (&'c str, &'c PhysicalFunction)> {
    context.nics_that_policy_takes().iter().copied()
}

/// Words for a link layer, as the operator writes it.
pub(super) fn link_type_word(link: LinkLayer) -> &'static str {
    match link {
        LinkLayer::Ethernet => "eth",
        LinkLayer::InfiniBand => "ib",
    }
}
