//! SriovNetworkNodePolicies of one resource.

use super::other_sriov_policies::other_policies_in_time;
use crate::facts::SriovNodePolicy;
use crate::rules::finding::Severity;
use crate::rules::object_context::ObjectContext;
use crate::rules::other_sriov_policy_and_common_nodes::{CommonNodes, OtherPolicy};

/// The other policies of the same resource on nodes of this one.
pub(super) fn other_policies_of_same_resource<'c, 'a>(
    context: &'c ObjectContext<'a>,
    own: &'c SriovNodePolicy,
) -> impl Iterator<Item = OtherPolicy<'a>> + use<'c, 'a> {
    let same = |other: &OtherPolicy<'_>| !own.resource.is_empty() && other.policy.resource == own.resource;
    other_policies_in_time(context).filter(move |other| same(other) && other.shared != CommonNodes::None)
}

pub(super) fn error_if_nodes_are_certain(shared: CommonNodes<'_>) -> Severity {
    if shared.is_certain() { Severity::Error } else { Severity::Warning }
}
