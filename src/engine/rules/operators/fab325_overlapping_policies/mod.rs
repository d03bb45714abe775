//! FAB325: two SriovNetworkNodePolicies that take the same VFs of a NIC.

use super::nodes_in_common::{Common, common};
use super::other_policies::{Other, others};
use super::policy_nodes::requirements;
use super::policy_overlap::{Meeting, meeting};
use crate::facts::NodePolicy;
use crate::rules::finding::{Findings, Severity};
use crate::rules::kinds::NODE_POLICY;
use crate::rules::object::ObjectContext;
use crate::rules::rule::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB325",
    severity: Severity::Error,
    lesser: &[
        (Severity::Warning, "it is not certain that both policies take the same VFs"),
        (Severity::Info, "different priorities may be a deliberate order"),
    ],
    files: files!(),
    kinds: &[NODE_POLICY],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some(own) = context.node_policy() else { return };
    if own.nics.is_empty() || own.num_vfs == Some(0) {
        return;
    }
    let nodes = requirements(own);
    for other in others(context) {
        let findings = &mut findings.with(other.name);
        let policy = other.policy;
        if policy.nics.is_empty() || policy.num_vfs == Some(0) {
            continue;
        }
        let met = meeting(own, policy, context.snapshot, true);
        let shared = common(&nodes, &requirements(policy), context.snapshot.nodes());
        if shared == Common::None {
            continue;
        }
        let lost = if wins(context, own, &other) { other.name } else { "this policy" };
        match met {
            Some(met) => {
                let severity = match shared.certain() && !replaces(own, policy, &met) {
                    true => Severity::Error,
                    false => Severity::Warning,
                };
                findings.add_as(
                    severity,
                    met.path,
                    format!(
                        "VFs of {} also belong to policy {} {}: {lost} loses its group of VFs",
                        met.nic,
                        other.name,
                        shared.words()
                    ),
                    "Give each policy its own range or its own nodes.",
                );
            }
            None => other_fields(context, own, &other, lost, findings),
        }
    }
}

/// Whether a policy for fewer nodes replaces one for more: the purpose of priorities.
fn replaces(a: &NodePolicy, b: &NodePolicy, met: &Meeting) -> bool {
    met.ranges == [None, None] && a.priority != b.priority && a.nodes != b.nodes
}

fn wins(context: &ObjectContext<'_>, own: &NodePolicy, other: &Other<'_>) -> bool {
    // Sorted by falling priority, then by name; the last one wins (api/v1/helper.go, `ByPriority`).
    let (a, b) = (own.priority.unwrap_or(0), other.policy.priority.unwrap_or(0));
    a < b || (a == b && context.text("/metadata/name").unwrap_or_default() > other.name)
}

/// NICs that both take by different fields of their selectors, on nodes that are known.
fn other_fields(
    context: &ObjectContext<'_>,
    own: &NodePolicy,
    other: &Other<'_>,
    lost: &str,
    findings: &mut Findings<'_>,
) {
    let policy = other.policy;
    if !own.nics.interfaces.is_empty() && !policy.nics.interfaces.is_empty() {
        return;
    }
    let ranged = |policy: &NodePolicy| policy.nics.interfaces.iter().any(|name| name.contains('#'));
    if ranged(own) || ranged(policy) {
        return;
    }
    let theirs = requirements(policy);
    let (nodes, ours) = (context.snapshot.nodes(), requirements(own));
    let on_both =
        |node: &&str| nodes.selects(&ours, node) == Some(true) && nodes.selects(&theirs, node) == Some(true);
    let both = context.selected_nics().iter().find_map(|(_, set)| {
        let nic = set.interfaces().iter().find(|nic| own.nics.takes(nic) && policy.nics.takes(nic))?;
        Some((set.nodes().find(on_both)?, nic))
    });
    if let Some((node, nic)) = both {
        // Two different numbers are a deliberate order.
        let severity = if own.priority == policy.priority { Severity::Warning } else { Severity::Info };
        findings.add_as(
            severity,
            "/spec/nicSelector",
            format!(
                "NIC {} of node {node} also belongs to policy {}, by other fields of nicSelector: {lost} loses its VFs there",
                nic.name, other.name
            ),
            "Select NICs by pfNames in both.",
        );
    }
}
