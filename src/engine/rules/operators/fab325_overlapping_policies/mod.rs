//! FAB325: two SriovNetworkNodePolicies that take the same VFs of a NIC.

use super::do_sriov_policies_overlap::{NicInCommon, OurNics};
use super::nodes_and_nics_of_sriov_policy::node_requirements_of_policy;
use super::other_sriov_policies::{is_applied_before, other_policies_in_time};
use crate::facts::sriov_node_state::PhysicalFunction;
use crate::facts::{NodesWithSameNics, SriovNodePolicy};
use crate::nodes::{InCommon, NodeSelection};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NODE_POLICY;
use crate::rules::other_sriov_policy_and_common_nodes::{CommonNodes, OtherPolicy};
use crate::rules::rule_declaration::{Rule, files};
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

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(own) = context.sriov_policy_unless_default() else { return };
    if own.nics.is_empty() || own.num_vfs == Some(0) {
        return;
    }
    let nics = OurNics::new(own, context);
    let taken = LazyCell::new(|| nics_that_policy_takes(context, own));
    let our_nodes = LazyCell::new(|| context.selected_nodes());
    for other in other_policies_in_time(context) {
        let findings = &mut findings.about_other_object(other.name);
        let policy = other.policy;
        // Of one resource the operator keeps one group of VFs, and the pool of the device plugin has the VFs of both.
        if policy.nics.is_empty() || policy.num_vfs == Some(0) || policy.resource == own.resource {
            continue;
        }
        if other.shared == CommonNodes::None {
            continue;
        }
        match nics.first_nic_in_common(other, true) {
            Some(met) => {
                let severity =
                    match other.shared.is_certain() && !does_one_replace_the_other(own, policy, &met) {
                        true => Severity::Error,
                        false => Severity::Warning,
                    };
                if !findings.may_still_report(severity) {
                    continue;
                }
                findings.add_with_severity(
                    severity,
                    met.path,
                    format!(
                        "this policy and policy {1:?} take the same VFs of NIC {0} {2}: {3}",
                        met.nic,
                        other.name,
                        other.shared.words(),
                        which_resource_gets_vfs(context, own, other)
                    ),
                    "Give the policies different VFs or nodes.",
                );
            }
            None => {
                // Two different numbers are a deliberate order.
                let severity =
                    if own.priority == policy.priority { Severity::Warning } else { Severity::Info };
                if !findings.may_still_report(severity)
                    || !may_take_same_nic_by_other_fields(own, &nics, other)
                {
                    continue;
                }
                let Some(ours) = our_nodes.as_ref() else { return };
                let Some((node, nic)) = first_nic_both_take(context, ours, policy, &taken) else { continue };
                findings.add_with_severity(
                    severity,
                    "/spec/nicSelector",
                    format!(
                        "policy {1:?} also takes VFs of NIC {0} on node {node}, through other fields of nicSelector: {2}",
                        nic.name,
                        other.name,
                        which_resource_gets_vfs(context, own, other)
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
fn which_resource_gets_vfs(
    context: &ObjectContext<'_>,
    own: &SriovNodePolicy,
    other: OtherPolicy<'_>,
) -> String {
    let name = context.non_empty_text_at("/metadata/name").unwrap_or_default();
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
fn does_one_replace_the_other(a: &SriovNodePolicy, b: &SriovNodePolicy, met: &NicInCommon) -> bool {
    met.ranges == [None, None] && a.priority != b.priority && a.nodes != b.nodes
}

/// Whether two policies may take all VFs of a NIC, by different fields of their selectors.
fn may_take_same_nic_by_other_fields(
    own: &SriovNodePolicy,
    ours: &OurNics<'_>,
    other: OtherPolicy<'_>,
) -> bool {
    (own.nics.interfaces.is_empty() || other.policy.nics.interfaces.is_empty())
        && !ours.have_ranges(other)
        && ours.may_be_same_ignoring_names(other)
}

/// The NICs that the policy takes on its nodes.
fn nics_that_policy_takes<'a>(
    context: &ObjectContext<'a>,
    own: &SriovNodePolicy,
) -> Vec<(&'a NodesWithSameNics, Vec<&'a PhysicalFunction>)> {
    let index = own.nics.for_many_nics();
    let of_set = |(_, set): &(&str, &'a NodesWithSameNics)| {
        let nics: Vec<&PhysicalFunction> =
            set.interfaces().iter().filter(|nic| index.selects_nic(nic)).collect();
        (!nics.is_empty()).then_some((*set, nics))
    };
    context.nics_of_selected_nodes().iter().filter_map(of_set).collect()
}

/// The first NIC that both take, on a node that is known. Of many NICs only as many are compared as the decision may look
/// at.
fn first_nic_both_take<'a>(
    context: &ObjectContext<'a>,
    ours: &NodeSelection<'a, '_>,
    other: &SriovNodePolicy,
    taken: &[(&'a NodesWithSameNics, Vec<&'a PhysicalFunction>)],
) -> Option<(&'a str, &'a PhysicalFunction)> {
    let deadline = context.deadline;
    if taken.is_empty() {
        return None;
    }
    deadline.spend_work_of_run(|| other.nics.interfaces.len() + other.nics.addresses.len());
    let both = ours.with(&node_requirements_of_policy(other));
    let index = other.nics.for_many_nics();
    for (set, nics) in taken {
        let mut found = None;
        for nic in nics {
            if !deadline.take_looks(1) {
                return None;
            }
            if index.selects_nic(nic) {
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
