//! FAB110: NetworkAttachmentDefinition whose plugin gets no device.

use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NETWORK_ATTACHMENT_DEFINITION;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB110",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[NETWORK_ATTACHMENT_DEFINITION],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(definition) = context.cni_configuration() else { return };
    let Some(plugin) = definition.plugin_that_makes_interface() else { return };
    let own: &[&str] = match plugin.cni_type {
        "sriov" | "ib-sriov" => &["deviceID"],
        // Multus writes the last two keys, or the plugin chain itself has them.
        "host-device" => &["device", "hwaddr", "kernelpath", "pciBusID", "deviceID", "runtimeConfig"],
        _ => return,
    };
    if definition.resource_annotation().is_some() || own.iter().any(|key| plugin.object.contains_key(*key)) {
        return;
    }
    let namespace = context.non_empty_text_at("/metadata/namespace").unwrap_or("default");
    let name = context.non_empty_text_at("/metadata/name").unwrap_or_default();
    if context.snapshot.may_dra_driver_attach_network(namespace, name) {
        return;
    }
    definition.report_in_configuration(
        findings,
        Severity::Warning,
        &format!("{}/type", plugin.pointer()),
        format!(
            "Multus passes no device to plugin {}, because annotation k8s.v1.cni.cncf.io/resourceName is missing",
            plugin.cni_type
        ),
        "Set the annotation to the full name of the resource, such as nvidia.com/rdma_vf.",
    );
}
