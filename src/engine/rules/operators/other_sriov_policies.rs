//! The other SriovNetworkNodePolicies that are known.

use super::do_selectors_share_nodes::OurNodes;
use super::sriov_policy_nodes::requirements;
use crate::facts::NodePolicy;
use crate::rules::object_context::ObjectContext;
use crate::rules::sriov_policy_beside::Other;

/// The policies that the policy under review is compared with, without its own copy among the facts, which may be an older
/// one. Policies of another namespace belong to another operator, or to none. The list ends when the time of the decision
/// is over.
pub(super) fn others<'c, 'a>(
    context: &'c ObjectContext<'a>,
) -> impl Iterator<Item = Other<'a>> + use<'c, 'a> {
    let compared = context.other_policies(|| {
        let Some(own) = context.node_policy() else { return Vec::new() };
        let (deadline, name, namespace) =
            (context.deadline, context.text("/metadata/name"), context.text("/metadata/namespace"));
        let nodes = OurNodes::new(&requirements(own), context.snapshot.nodes_for_audience(), deadline);
        let all = context.snapshot.cluster_facts_for_audience().policies_that_may_meet(own).filter(
            |(other, own, _)| {
                Some(*own) != name && *own != "default" && namespace.is_none_or(|n| n == *other)
            },
        );
        let compared = all.map(|(_, name, policy)| {
            let shared = nodes.common(&requirements(policy));
            Other { name, policy, shared }
        });
        compared.take_while(|_| !deadline.is_over()).collect()
    });
    compared.iter().copied().take_while(|_| !context.deadline.is_over())
}

/// Which of two policies the operator applies first: the one with the greater priority number, then by name
/// (k8snetworkplumbingwg/sriov-network-operator api/v1/helper.go, ByPriority). The last one configures the VFs; the first
/// one gives the device plugin the flags of the pool, and is first in its list. `None` where that depends on a priority
/// that is not set: it counts as 0, or as 99 with the operator's webhook.
pub(super) fn is_applied_before(own: (&str, &NodePolicy), other: Other<'_>) -> Option<bool> {
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
    use crate::rules::sriov_policy_beside::Common;

    #[test]
    fn the_greater_number_and_then_the_name_is_applied_first() {
        let policy = |priority: &str| {
            NodePolicy::parse(&format!(r#"{{"spec":{{"resourceName":"r"{priority}}}}}"#)).unwrap()
        };
        let first = |own: &str, other: &str| {
            let (own, other) = (policy(own), policy(other));
            is_applied_before(("b", &own), Other { name: "c", policy: &other, shared: Common::Implied })
        };
        assert_eq!(first(r#","priority":99"#, r#","priority":10"#), Some(true));
        assert_eq!(first(r#","priority":10"#, r#","priority":99"#), Some(false));
        assert_eq!(first(r#","priority":10"#, r#","priority":10"#), Some(true));
        assert_eq!(first("", ""), Some(true));
        assert_eq!(first("", r#","priority":50"#), None);
        assert_eq!(first("", r#","priority":99"#), None);
    }
}
