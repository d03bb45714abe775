//! The other SriovNetworkNodePolicies that are known.

use crate::facts::NodePolicy;
use crate::rules::object::ObjectContext;

/// Another policy.
#[derive(Debug, Clone, Copy)]
pub(super) struct Other<'a> {
    /// Its name.
    pub(super) name: &'a str,
    /// Its fields.
    pub(super) policy: &'a NodePolicy,
}

/// Every policy but the one under review and its own copy among the facts, which may be an older one. Policies of
/// another namespace belong to another operator, or to none.
pub(super) fn others<'a>(context: &'a ObjectContext<'_>) -> impl Iterator<Item = Other<'a>> {
    let name = context.text("/metadata/name");
    let namespace = context.text("/metadata/namespace");
    let all = context.snapshot.facts().node_policies();
    all.filter(move |(other, own, _)| {
        Some(*own) != name && *own != "default" && namespace.is_none_or(|n| n == *other)
    })
    .map(|(_, name, policy)| Other { name, policy })
}
