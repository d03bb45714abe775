//! The other SriovNetworkNodePolicies that are known.

use super::do_selectors_share_nodes::OurNodes;
use super::nodes_and_nics_of_sriov_policy::node_requirements_of_policy;
use crate::facts::{PolicyToCompare, SriovNodePolicy};
use crate::rules::object_context::ObjectContext;
use crate::rules::other_sriov_policy_and_common_nodes::OtherPolicy;

/// The policies that the policy under review is compared with, without its own copy among the facts, which may be an older
/// one. Policies of another namespace belong to another operator, or to none. The list ends when the time of the decision
/// is over.
pub(super) fn other_policies_in_time<'c, 'a>(
    context: &'c ObjectContext<'a>,
) -> impl Iterator<Item = OtherPolicy<'a>> + use<'c, 'a> {
    let compared = context.other_policies(|| {
        let Some(own) = context.sriov_policy_unless_default() else { return Vec::new() };
        let (deadline, name, namespace) = (
            context.deadline,
            context.non_empty_text_at("/metadata/name"),
            context.non_empty_text_at("/metadata/namespace"),
        );
        let nodes =
            OurNodes::new(&node_requirements_of_policy(own), context.snapshot.nodes_for_audience(), deadline);
        let all = context.snapshot.cluster_facts_for_audience().sriov_policies_to_compare_with(own).filter(
            |other| {
                Some(other.name.as_str()) != name
                    && other.name != "default"
                    && namespace.is_none_or(|namespace| namespace == other.namespace)
            },
        );
        let compared = all.map(|PolicyToCompare { name, policy, nics, .. }| {
            let shared = nodes.nodes_in_common_with(&node_requirements_of_policy(policy));
            OtherPolicy { name, policy, nics, shared }
        });
        compared.take_while(|_| !deadline.is_over()).collect()
    });
    compared.iter().copied().take_while(|_| !context.deadline.is_over())
}

/// Which of two policies the operator applies first: the one with the greater priority number, then by name
/// (k8snetworkplumbingwg/sriov-network-operator api/v1/helper.go, ByPriority). The last one configures the VFs; the first
/// one gives the device plugin the flags of the pool, and is first in its list. `None` where that depends on a priority
/// that is not set: it counts as 0, or as 99 with the operator's webhook.
pub(super) fn is_applied_before(own: (&str, &SriovNodePolicy), other: OtherPolicy<'_>) -> Option<bool> {
    let order = |unset: i64| {
        let of = |policy: &SriovNodePolicy| std::cmp::Reverse(policy.priority.unwrap_or(unset));
        (of(own.1), own.0) < (of(other.policy), other.name)
    };
    let (without, with) = (order(0), order(99));
    (without == with).then_some(without)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::NicsListedByPolicy;
    use crate::rules::other_sriov_policy_and_common_nodes::CommonNodes;

    #[test]
    fn the_greater_number_and_then_the_name_is_applied_first() {
        let policy = |priority: &str| {
            SriovNodePolicy::parse(&format!(r#"{{"spec":{{"resourceName":"r"{priority}}}}}"#)).unwrap()
        };
        let first = |own: &str, other: &str| {
            let (own, other) = (policy(own), policy(other));
            let (nics, shared) = (&NicsListedByPolicy::default(), CommonNodes::Implied);
            is_applied_before(("b", &own), OtherPolicy { name: "c", policy: &other, nics, shared })
        };
        assert_eq!(first(r#","priority":99"#, r#","priority":10"#), Some(true));
        assert_eq!(first(r#","priority":10"#, r#","priority":99"#), Some(false));
        assert_eq!(first(r#","priority":10"#, r#","priority":10"#), Some(true));
        assert_eq!(first("", ""), Some(true));
        assert_eq!(first("", r#","priority":50"#), None);
        assert_eq!(first("", r#","priority":99"#), None);
    }
}
