//! SriovNetworkNodePolicies of one resource.

use super::nodes_in_common::{Common, common};
use super::other_policies::{Other, others};
use super::policy_nodes::requirements;
use crate::facts::NodePolicy;
use crate::rules::finding::Severity;
use crate::rules::object::ObjectContext;

/// The other policies of the same resource, with what their nodes have in common.
pub(super) fn of_resource<'a>(
    context: &'a ObjectContext<'_>,
    own: &'a NodePolicy,
) -> impl Iterator<Item = (Other<'a>, Common)> {
    let nodes = requirements(own);
    let same =
        others(context).filter(|other| !own.resource.is_empty() && other.policy.resource == own.resource);
    same.map(move |other| {
        let shared = common(&nodes, &requirements(other.policy), context.snapshot.nodes());
        (other, shared)
    })
    .filter(|(_, shared)| *shared != Common::None)
}

pub(super) fn severity(shared: &Common) -> Severity {
    if shared.certain() { Severity::Error } else { Severity::Warning }
}
