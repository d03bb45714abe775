//! SriovNetworkNodePolicies of one resource.

use super::other_sriov_policies::others;
use crate::facts::NodePolicy;
use crate::rules::finding::Severity;
use crate::rules::object_context::ObjectContext;
use crate::rules::sriov_policy_beside::{Common, Other};

/// The other policies of the same resource on nodes of this one.
pub(super) fn of_resource<'c, 'a>(
    context: &'c ObjectContext<'a>,
    own: &'c NodePolicy,
) -> impl Iterator<Item = Other<'a>> + use<'c, 'a> {
    let same = |other: &Other<'_>| !own.resource.is_empty() && other.policy.resource == own.resource;
    others(context).filter(move |other| same(other) && other.shared != Common::None)
}

pub(super) fn severity(shared: Common<'_>) -> Severity {
    if shared.certain() { Severity::Error } else { Severity::Warning }
}
