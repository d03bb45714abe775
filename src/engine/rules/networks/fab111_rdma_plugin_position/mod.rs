//! FAB111: rdma plugin alone, first, or after a plugin that brings no device.

use crate::rules::finding::{Findings, Severity};
use crate::rules::kinds::NETWORK_ATTACHMENT_DEFINITION;
use crate::rules::object::ObjectContext;
use crate::rules::resources::rdma_mode::{REMOVE, is_shared};
use crate::rules::rule::{Rule, files};

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
const MOVES: &str = "moving the device works, and the pod loses only the IPoIB interface";
const SHARED: &str = "the nodes may be set to exclusive RDMA mode, where moving the device works";

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some(definition) = context.definition() else { return };
    let plugins = definition.plugins();
    let Some(index) = plugins.iter().position(|p| p.cni_type == "rdma") else { return };
    let Some(rdma) = plugins.get(index) else { return };
    let mut report =
        |severity, message: String, fix| definition.report(findings, severity, &rdma.pointer, message, fix);
    if index == 0 {
        let message = "plugin rdma is the first in the chain, so it finds no device to move: pods stay in ContainerCreating";
        report(Severity::Error, message.to_owned(), "Put plugin rdma after plugin sriov or host-device.");
        return;
    }
    let before = plugins.iter().take(index).map(|p| p.cni_type);
    if let Some(shared) = before.clone().find(|t| matches!(*t, "macvlan" | "ipvlan" | "ipoib" | "bridge")) {
        let message = format!(
            "plugin rdma fails after plugin {shared}, which leaves the NIC on the node: rdma has no device to move"
        );
        report(Severity::Error, message, "Remove plugin rdma, and request a shared RDMA device in the pods.");
    } else if let Some(ib) = plugins.iter().take(index).find(|p| p.cni_type == "ib-sriov") {
        let isolates = ib.object.get("rdmaIsolation").and_then(serde_json::Value::as_bool) == Some(true);
        if isolates {
            let message = "ib-sriov with rdmaIsolation already moves the RDMA device: plugin rdma does not find the device, and fails";
            let fix = "Remove plugin rdma: ib-sriov moves the RDMA device itself.";
            report(Severity::Error, message.to_owned(), fix);
            return;
        }
        let message = "plugin rdma after ib-sriov moves the IPoIB interface back to the node: the pod loses this interface";
        let (because, fix) = if is_shared(context) {
            (SHARED, REMOVE)
        } else {
            (MOVES, "Write \"rdmaIsolation\": true in plugin ib-sriov, and remove plugin rdma.")
        };
        let findings = &mut findings.because(because);
        definition.report(findings, Severity::Warning, &rdma.pointer, message, fix);
    }
}
