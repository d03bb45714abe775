//! FAB325: two SriovNetworkNodePolicies that take the same VFs of a NIC.

use super::do_sriov_policies_overlap::{Meeting, OurNics, may_select_same_nic};
use super::other_sriov_policies::{is_applied_before, others};
use super::sriov_policy_nodes::requirements;
use crate::facts::sriov_node_policy::{NicIndex, NicSelector};
use crate::facts::sriov_node_state::Interface;
use crate::facts::{NicSet, NodePolicy};
use crate::nodes::{InCommon, NodeSelection};
use crate::rules::finding::{Findings, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NODE_POLICY;
use crate::rules::rule_declaration::{Rule, files};
use crate::rules::sriov_policy_beside::{Common, Other};
use std::cell::LazyCell;

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
    let nics = OurNics::new(own, context.snapshot);
    let taken = LazyCell::new(|| taken(context, nics.index()));
    let our_nodes = LazyCell::new(|| context.selected_nodes());
    for other in others(context) {
        let findings = &mut findings.about_other_object(other.name);
        let policy = other.policy;
        // Of one resource the operator keeps one group of VFs, and the pool of the device plugin has the VFs of both.
        if policy.nics.is_empty() || policy.num_vfs == Some(0) || policy.resource == own.resource {
            continue;
        }
        if other.shared == Common::None {
            continue;
        }
        match nics.first_nic_in_common(policy, true) {
            Some(met) => {
                let severity = match other.shared.certain() && !replaces(own, policy, &met) {
                    true => Severity::Error,
                    false => Severity::Warning,
                };
                if !findings.has_room_for(severity) {
                    continue;
                }
                findings.add_as(
                    severity,
                    met.path,
                    format!(
                        "this policy and policy {1:?} take the same VFs of NIC {0} {2}: {3}",
                        met.nic,
                        other.name,
                        other.shared.words(),
                        outcome(context, own, other)
                    ),
                    "Give the policies different VFs or nodes.",
                );
            }
            None => {
                // Two different numbers are a deliberate order.
                let severity =
                    if own.priority == policy.priority { Severity::Warning } else { Severity::Info };
                if !findings.has_room_for(severity) || !by_other_fields(&nics, policy) {
                    continue;
                }
                let Some(ours) = our_nodes.as_ref() else { return };
                let Some((node, nic)) = taken_by_both(context, ours, policy, &taken) else { continue };
                findings.add_as(
                    severity,
                    "/spec/nicSelector",
                    format!(
                        "policy {1:?} also takes VFs of NIC {0} on node {node}, through other fields of nicSelector: {2}",
                        nic.name,
                        other.name,
                        outcome(context, own, other)
                    ),
                    "Select the NICs by pfNames in both policies.",
                );
            }
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
    let Some(own_is_first) = is_applied_before((name, own), other) else {
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

/// Whether two policies may take all VFs of a NIC, by different fields of their selectors.
fn by_other_fields(ours: &OurNics<'_>, policy: &NodePolicy) -> bool {
    let own = ours.index().selector();
    let ranged = |nics: &NicSelector| nics.interfaces.iter().any(|name| name.contains('#'));
    (own.interfaces.is_empty() || policy.nics.interfaces.is_empty())
        && !ranged(own)
        && !ranged(&policy.nics)
        && may_select_same_nic(ours.index(), &policy.nics)
}

/// The NICs that the policy takes on its nodes.
fn taken<'a>(context: &ObjectContext<'a>, index: &NicIndex<'_>) -> Vec<(&'a NicSet, Vec<&'a Interface>)> {
    let of_set = |(_, set): &(&str, &'a NicSet)| {
        let nics: Vec<&Interface> = set.interfaces().iter().filter(|nic| index.takes(nic)).collect();
        (!nics.is_empty()).then_some((*set, nics))
    };
    context.selected_nics().iter().filter_map(of_set).collect()
}

/// The first NIC that both take, on a node that is known. Of many NICs only as many are compared as the decision may look
/// at.
fn taken_by_both<'a>(
    context: &ObjectContext<'a>,
    ours: &NodeSelection<'a, '_>,
    other: &NodePolicy,
    taken: &[(&'a NicSet, Vec<&'a Interface>)],
) -> Option<(&'a str, &'a Interface)> {
    let deadline = context.deadline;
    let both = ours.with(&requirements(other));
    let index = other.nics.index();
    for (set, nics) in taken {
        let mut found = None;
        for nic in nics {
            if !deadline.take_looks(1) {
                return None;
            }
            if index.takes(nic) {
                found = Some(*nic);
                break;
            }
        }
        let Some(nic) = found else { continue };
        match both.first_of(set.nodes(), deadline) {
            InCommon::Node(node) => return Some((node, nic)),
            InCommon::None => {}
            InCommon::Unknown => return None,
        }
    }
    None
}
