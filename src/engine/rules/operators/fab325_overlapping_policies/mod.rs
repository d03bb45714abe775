//! FAB325: two SriovNetworkNodePolicies that take the same VFs of a NIC.

use super::nodes_in_common::{Common, common};
use super::other_policies::{Other, applied_first, others};
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
        (Severity::Info, "the policies may have different priorities on purpose"),
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
        // Of one resource the operator keeps one group of VFs, and the pool of the device plugin has the VFs of both.
        if policy.nics.is_empty() || policy.num_vfs == Some(0) || policy.resource == own.resource {
            continue;
        }
        let met = meeting(own, policy, context.snapshot, true);
        let shared = common(&nodes, &requirements(policy), context.snapshot.nodes());
        if shared == Common::None {
            continue;
        }
        let outcome = outcome(context, own, other);
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
                        "this policy and policy {1:?} take the same VFs of NIC {0} {2}: {outcome}",
                        met.nic,
                        other.name,
                        shared.words()
                    ),
                    "Give the policies different VFs or nodes.",
                );
            }
            None => other_fields(context, own, &other, &outcome, findings),
        }
    }
}

/// Which of two resources gets the VFs that both policies take. The device plugin has the resource of the policy
/// that is applied first in front, and gives a VF to the first resource that it fits
/// (k8snetworkplumbingwg/sriov-network-operator controllers/sriovnetworknodepolicy_controller.go,
/// renderDevicePluginConfigData; sriov-network-device-plugin cmd/sriovdp/manager.go, excludeAllocatedDevices). But the
/// last policy binds the driver, and on vfio-pci a VF has no RDMA device.
fn outcome(context: &ObjectContext<'_>, own: &NodePolicy, other: Other<'_>) -> String {
    let name = context.text("/metadata/name").unwrap_or_default();
    let Some(own_is_first) = applied_first((name, own), other) else {
        return format!(
            "one policy has no priority, so the VFs go to resource {:?} or {:?}",
            own.resource, other.policy.resource
        );
    };
    let (first, last) = if own_is_first { (own, other.policy) } else { (other.policy, own) };
    let gets = if last.vfio && first.is_rdma { last } else { first };
    let whose =
        if std::ptr::eq(gets, own) { "this policy".to_owned() } else { format!("policy {:?}", other.name) };
    format!("resource {:?} of {whose} gets all these VFs", gets.resource)
}

/// Whether a policy for fewer nodes replaces one for more: the purpose of priorities.
fn replaces(a: &NodePolicy, b: &NodePolicy, met: &Meeting) -> bool {
    met.ranges == [None, None] && a.priority != b.priority && a.nodes != b.nodes
}

/// NICs that both take by different fields of their selectors, on nodes that are known.
fn other_fields(
    context: &ObjectContext<'_>,
    own: &NodePolicy,
    other: &Other<'_>,
    outcome: &str,
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
    let (our_nics, their_nics) = (own.nics.index(), policy.nics.index());
    let both = context.selected_nics().iter().find_map(|(_, set)| {
        let nic = set.interfaces().iter().find(|nic| our_nics.takes(nic) && their_nics.takes(nic))?;
        Some((set.nodes().find(on_both)?, nic))
    });
    if let Some((node, nic)) = both {
        // Two different numbers are a deliberate order.
        let severity = if own.priority == policy.priority { Severity::Warning } else { Severity::Info };
        findings.add_as(
            severity,
            "/spec/nicSelector",
            format!(
                "policy {1:?} also takes VFs of NIC {0} on node {node}, through other fields of nicSelector: {outcome}",
                nic.name, other.name
            ),
            "Select the NICs by pfNames in both policies.",
        );
    }
}
