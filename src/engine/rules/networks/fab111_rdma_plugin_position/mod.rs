//! FAB111: CNI plugin rdma at the wrong place in the plugin chain.

use crate::rules::cni_config_of_network_definition::PluginInDefinition;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NETWORK_ATTACHMENT_DEFINITION;
use crate::rules::resources::rdma_mode::{REMOVE_RDMA_PLUGIN, are_nodes_in_shared_rdma_mode};
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB111",
    severity: Severity::Error,
    lesser: &[(Severity::Warning, MOVES), (Severity::Warning, SHARED)],
    files: files!(),
    kinds: &[NETWORK_ATTACHMENT_DEFINITION],
    object: Some(check),
    ..Rule::DEFAULT
};

/// Reasons for warnings.
const MOVES: &str = "the pod gets the RDMA device, and loses only the IPoIB interface";
const SHARED: &str = "the nodes may be in exclusive RDMA mode, where plugin rdma can move the device";

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(definition) = context.cni_configuration() else { return };
    let Some(rdma) = definition.plugins().find(|p| p.cni_type == "rdma") else { return };
    let before = || definition.plugins().take_while(|p| p.cni_type != "rdma");
    let place = rdma.pointer();
    let mut report = |severity, message: String, fix| {
        definition.report_in_configuration(findings, severity, &place, message, fix)
    };
    if before().next().is_none() {
        let message = "plugin rdma is the first in the chain, so it finds no device to move: pods stay in ContainerCreating";
        report(Severity::Error, message.to_owned(), "Put plugin rdma after plugin sriov or host-device.");
        return;
    }
    let shared = |plugin: &PluginInDefinition<'_>| {
        matches!(plugin.cni_type, "macvlan" | "ipvlan" | "ipoib" | "bridge")
    };
    if let Some(PluginInDefinition { cni_type: shared, .. }) = before().find(shared) {
        let message = format!(
            "plugin {shared} leaves the NIC on the node, so the next plugin, rdma, has no device to move, and fails"
        );
        report(Severity::Error, message, "Remove plugin rdma, and request a shared RDMA device in the pods.");
    } else if let Some(ib) = before().find(|p| p.cni_type == "ib-sriov") {
        let isolates = ib.object.get("rdmaIsolation").and_then(serde_json::Value::as_bool) == Some(true);
        if isolates {
            let message = "ib-sriov with rdmaIsolation already moves the RDMA device: plugin rdma does not find the device, and fails";
            let fix = "Remove plugin rdma: ib-sriov already moves the RDMA device.";
            report(Severity::Error, message.to_owned(), fix);
            return;
        }
        let message =
            "plugin rdma runs after plugin ib-sriov, and moves the pod's IPoIB interface back to the node";
        let (because, fix) = if are_nodes_in_shared_rdma_mode(context) {
            (SHARED, REMOVE_RDMA_PLUGIN)
        } else {
            (MOVES, "Write \"rdmaIsolation\": true in plugin ib-sriov, and remove plugin rdma.")
        };
        let findings = &mut findings.with_reason_for_lower_severity(because);
        definition.report_in_configuration(findings, Severity::Warning, &place, message, fix);
    }
}
