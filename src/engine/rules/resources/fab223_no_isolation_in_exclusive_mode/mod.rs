//! FAB223: network that does not move the RDMA device into the pod, on nodes in exclusive RDMA mode.

use super::rdma_mode::{does_hold_for_network_object, pointer_of_plugin_chain, report_networks_of_pod_where};
use crate::facts::ResourceOnAllNodes;
use crate::multus::Sharing;
use crate::rules::cni_config_of_network_definition::NetworkDefinition;
use crate::rules::devices_of_pod::KnownNetwork;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::{NETWORK_ATTACHMENT_DEFINITION, SRIOV_IB_NETWORK, SRIOV_NETWORK};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod::networks_annotation;
use crate::rules::rule_declaration::{Rule, files};
use std::cell::LazyCell;

pub(super) static RULE: Rule = Rule {
    id: "FAB223",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, NO_NEED), (Severity::Warning, OTHER_NODES)],
    files: files!(),
    kinds: &[NETWORK_ATTACHMENT_DEFINITION, SRIOV_NETWORK, SRIOV_IB_NETWORK],
    pod: Some(check_pod),
    object: Some(check_object),
    ..Rule::DEFAULT
};

/// Reasons for warnings.
const NO_NEED: &str = "the pod may not need RDMA";
const OTHER_NODES: &str = "nodes that the SR-IOV operator does not manage may be in shared RDMA mode";

fn check_pod(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let covered = context.subject.snapshot.node_states_cover_all_nodes();
    // The result is the same for every network, and to find it the rule reads all variables. So compute it once.
    let wants_rdma = LazyCell::new(|| context.needs_rdma_by_profile_or_variables());
    report_networks_of_pod_where(context, does_rdma_device_stay_on_host, &mut |network, known| {
        // Plugin rdma after ib-sriov costs the pod its IPoIB interface (FAB111, FAB340).
        let fix = match known.class.plugin {
            Some("ib-sriov") => "Request a network of type ib-sriov with \"rdmaIsolation\": true.",
            _ => "Request a network whose plugin chain has rdma.",
        };
        let (severity, because, nodes, so) = match (*wants_rdma, covered) {
            (true, true) => (Severity::Error, "", "the nodes", "NCCL does not find the device"),
            (true, false) => {
                (Severity::Warning, OTHER_NODES, "the known nodes", "NCCL finds no device on these nodes")
            }
            (false, _) => (Severity::Warning, NO_NEED, "the nodes", "the pod cannot use RDMA"),
        };
        findings.with_reason_for_lower_severity(because).add_with_severity(
            severity,
            networks_annotation(),
            format!("network {network} does not move the RDMA device to the pod, but {nodes} are in exclusive RDMA mode: {so}"),
            fix,
        );
    });
}

fn check_object(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    if does_hold_for_network_object(context, does_rdma_device_stay_on_host) {
        findings.add_with_severity(
            Severity::Warning,
            pointer_of_plugin_chain(context),
            "the network's nodes are in exclusive RDMA mode, but no plugin moves the RDMA device to the pod",
            fix(context),
        );
    }
}

/// Plugin rdma after ib-sriov costs the pod its IPoIB interface (FAB111, FAB340): ib-sriov moves the device itself.
fn fix(context: &ObjectContext<'_>) -> &'static str {
    let infiniband = |definition: &NetworkDefinition| {
        definition.plugin_that_makes_interface().is_some_and(|p| p.cni_type == "ib-sriov")
    };
    if context.kind == SRIOV_IB_NETWORK.1 {
        "Replace this object with a NetworkAttachmentDefinition of type ib-sriov with \"rdmaIsolation\": true."
    } else if context.cni_configuration().is_some_and(infiniband) {
        "Write \"rdmaIsolation\": true in plugin ib-sriov."
    } else {
        "Add plugin rdma to the chain, after the plugin that moves the VF."
    }
}

fn does_rdma_device_stay_on_host(known: &KnownNetwork<'_>, site: &ResourceOnAllNodes) -> bool {
    matches!(known.class.sharing, Some(Sharing::ExclusiveVf | Sharing::ExclusiveNic))
        && !known.class.isolation
        && known.class.resource.and_then(|r| r.rdma) == Some(true)
        && site.exclusive == Some(true)
}
