//! FAB132: RoCE network without addresses.

use super::ipam_of_network_object::fact_of_network_object;
use crate::facts::names_dpdk;
use crate::multus::LinkLayer;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::{HOST_DEVICE_NETWORK, NETWORK_ATTACHMENT_DEFINITION};
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB132",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[NETWORK_ATTACHMENT_DEFINITION, HOST_DEVICE_NETWORK],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(fact) = fact_of_network_object(context) else { return };
    if !fact.addressing.known || fact.addressing.ipam.is_some() {
        return;
    }
    let class = context.snapshot.network_class_by_all_facts(fact);
    let Some(resource) = class.resource.filter(|_| class.rdma == Some(true)) else { return };
    let dpdk =
        || resource.is_for_dpdk() || context.non_empty_text_at("/metadata/name").is_some_and(names_dpdk);
    if class.link != Some(LinkLayer::Ethernet) || dpdk() {
        return;
    }
    let message = format!(
        "ipam is not set: the RoCE devices of resource {} get no IP address and no routable GID",
        resource.name
    );
    let fix = "Add ipam, such as {\"type\": \"nv-ipam\", \"poolName\": …}.";
    match context.cni_configuration().filter(|_| context.kind == "NetworkAttachmentDefinition") {
        Some(definition) => {
            let at = definition.plugin_that_makes_interface().map(|p| p.pointer()).unwrap_or_default();
            definition.report_in_configuration(findings, Severity::Warning, &at, message, fix);
        }
        None if context.kind == "NetworkAttachmentDefinition" => {}
        None => findings.add("/spec/ipam", message, fix),
    }
}
