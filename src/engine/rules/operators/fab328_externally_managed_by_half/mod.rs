//! FAB328: two SriovNetworkNodePolicies for one NIC with different values of externallyManaged.

use super::nodes_in_common::{Common, common};
use super::other_policies::others;
use super::policy_nodes::requirements;
use super::policy_overlap::meeting;
use crate::rules::finding::{Findings, Severity};
use crate::rules::kinds::NODE_POLICY;
use crate::rules::object::ObjectContext;
use crate::rules::rule::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB328",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, "no known node matches both nodeSelectors")],
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some(own) = context.node_policy() else { return };
    let nodes = requirements(own);
    for other in others(context).filter(|o| o.policy.external != own.external) {
        let findings = &mut findings.with(other.name);
        let Some(met) = meeting(own, other.policy, context.snapshot, false) else { continue };
        let shared = common(&nodes, &requirements(other.policy), context.snapshot.nodes());
        if shared == Common::None {
            continue;
        }
        let severity = if shared.certain() { Severity::Error } else { Severity::Warning };
        findings.add_as(
            severity,
            "/spec/externallyManaged",
            format!(
                "externallyManaged of NIC {} is {} in this policy but {} in policy {:?} ({}): the policy applied last decides",
                met.nic,
                own.external,
                other.policy.external,
                other.name,
                shared.words()
            ),
            "Set the same value in all policies of this NIC.",
        );
    }
}
