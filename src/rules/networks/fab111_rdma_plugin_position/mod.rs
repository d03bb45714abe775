//! FAB111: the rdma plugin by itself, first, or behind a plugin without a device of the pod's own.

use crate::rules::finding::{Findings, Severity};
use crate::rules::kinds::NETWORK_ATTACHMENT_DEFINITION;
use crate::rules::object::ObjectContext;
use crate::rules::rule::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB111",
    severity: Severity::Error,
    files: files!(),
    kinds: &[NETWORK_ATTACHMENT_DEFINITION],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some(definition) = context.definition() else { return };
    let plugins = definition.plugins();
    let Some(index) = plugins.iter().position(|p| p.cni_type == "rdma") else { return };
    let Some(rdma) = plugins.get(index) else { return };
    let mut tell =
        |severity, message: String, fix| definition.tell(findings, severity, &rdma.pointer, message, fix);
    if index == 0 {
        let message = "rdma moves the device that a plugin before it brought; here nothing stands before it";
        tell(Severity::Error, message.to_owned(), "put it behind sriov or host-device");
        return;
    }
    let before = plugins.iter().take(index).map(|p| p.cni_type);
    if let Some(shared) = before.clone().find(|t| matches!(*t, "macvlan" | "ipvlan" | "ipoib" | "bridge")) {
        let message =
            format!("rdma stands behind {shared}, whose NIC the node keeps: there is no device to move");
        tell(Severity::Error, message, "leave rdma out; pods ask for a shared RDMA device instead");
    } else if let Some(ib) = plugins.iter().take(index).find(|p| p.cni_type == "ib-sriov") {
        let isolates = ib.object.get("rdmaIsolation").and_then(serde_json::Value::as_bool) == Some(true);
        let (severity, message) = if isolates {
            (
                Severity::Error,
                "ib-sriov with rdmaIsolation moves the RDMA device already, and rdma finds none",
            )
        } else {
            (
                Severity::Warning,
                "ib-sriov has rdmaIsolation for this, and is not meant to be chained with rdma",
            )
        };
        tell(severity, message.to_owned(), "write \"rdmaIsolation\": true in ib-sriov and leave rdma out");
    }
}
