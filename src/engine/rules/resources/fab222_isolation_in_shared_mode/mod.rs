//! FAB222: network that isolates RDMA devices on nodes in shared RDMA mode.

use super::rdma_mode::{
    REMOVE_RDMA_PLUGIN, does_hold_for_network_object, pointer_of_plugin_chain, report_networks_of_pod_where,
};
use crate::facts::ResourceOnAllNodes;
use crate::rules::devices_of_pod::KnownNetwork;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::{NETWORK_ATTACHMENT_DEFINITION, SRIOV_IB_NETWORK, SRIOV_NETWORK};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod::networks_annotation;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB222",
    severity: Severity::Error,
    lesser: &[(
        Severity::Warning,
        "nodes that the SR-IOV operator does not manage may be in exclusive RDMA mode",
    )],
    files: files!(),
    kinds: &[NETWORK_ATTACHMENT_DEFINITION, SRIOV_NETWORK, SRIOV_IB_NETWORK],
    reach: PodsChecked::Any,
    pod: Some(check_pod),
    object: Some(check_object),
    ..Rule::DEFAULT
};

fn check_pod(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    // Each node has its own mode: nodes that the operator does not manage may be in exclusive mode.
    let severity = if context.subject.snapshot.node_states_cover_all_nodes() {
        Severity::Error
    } else {
        Severity::Warning
    };
    report_networks_of_pod_where(context, isolates_in_shared, &mut |network, _| {
        findings.add_with_severity(
            severity,
            networks_annotation(),
            format!("network {network} moves RDMA devices into pods, but the nodes are in shared RDMA mode: the pod sandbox fails"),
            "Use nodes in exclusive RDMA mode, or a network that does not move RDMA devices.",
        );
    });
}

fn check_object(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    if does_hold_for_network_object(context, isolates_in_shared) {
        // In exclusive mode the plugin costs the pod its IPoIB interface (FAB340).
        let fix = if context.kind == SRIOV_IB_NETWORK.1 {
            REMOVE_RDMA_PLUGIN
        } else {
            "Set rdmaMode: exclusive in SriovNetworkPoolConfig, or remove plugin rdma and rdmaIsolation."
        };
        findings.add_with_severity(
            Severity::Warning,
            pointer_of_plugin_chain(context),
            "the network moves RDMA devices into pods, but the nodes are in shared mode: pods never start",
            fix,
        );
    }
}

fn isolates_in_shared(known: &KnownNetwork<'_>, site: &ResourceOnAllNodes) -> bool {
    known.class.isolation && known.fact.takes_device == Some(true) && site.exclusive == Some(false)
}
