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

/// Which of two policies the operator applies first: the one with the greater priority number, then by name
/// (k8snetworkplumbingwg/sriov-network-operator api/v1/helper.go, ByPriority). The last one configures the VFs; the first
/// one gives the device plugin the flags of the pool, and is first in its list. `None` where that depends on a priority
/// that is not set: it counts as 0, or as 99 with the operator's webhook.
pub(super) fn applied_first(own: (&str, &NodePolicy), other: Other<'_>) -> Option<bool> {
    let order = |unset: i64| {
        let of = |policy: &NodePolicy| std::cmp::Reverse(policy.priority.unwrap_or(unset));
        (of(own.1), own.0) < (of(other.policy), other.name)
    };
    let (without, with) = (order(0), order(99));
    (without == with).then_some(without)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greater_number_and_then_the_name_is_applied_first() {
        let policy = |priority: &str| {
            NodePolicy::parse(&format!(r#"{{"spec":{{"resourceName":"r"{priority}}}}}"#)).unwrap()
        };
        let first = |own: &str, other: &str| {
            let (own, other) = (policy(own), policy(other));
            applied_first(("b", &own), Other { name: "c", policy: &other })
        };
        assert_eq!(first(r#","priority":99"#, r#","priority":10"#), Some(true));
        assert_eq!(first(r#","priority":10"#, r#","priority":99"#), Some(false));
        assert_eq!(first(r#","priority":10"#, r#","priority":10"#), Some(true));
        assert_eq!(first("", ""), Some(true));
        assert_eq!(first("", r#","priority":50"#), None);
        assert_eq!(first("", r#","priority":99"#), None);
    }
}
