//! FAB221: host-device or SR-IOV network over a shared RDMA device.

use crate::facts::{ResolvedNetwork, ResourceProvider};
use crate::multus::NetworkFact;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::{HOST_DEVICE_NETWORK, NETWORK_ATTACHMENT_DEFINITION};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod::networks_annotation;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB221",
    severity: Severity::Error,
    files: files!(),
    kinds: &[NETWORK_ATTACHMENT_DEFINITION, HOST_DEVICE_NETWORK],
    reach: PodsChecked::Any,
    pod: Some(check_pod),
    object: Some(check_object),
    ..Rule::DEFAULT
};

fn check_pod(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    if context.pod().host_network() {
        return;
    }
    for network in &context.devices().networks {
        let Some(known) = network.known else { continue };
        let Some(resource) = resource_network_cannot_use(known.fact, known.class) else { continue };
        let by = known
            .class
            .resource
            .map(|r| r.describe_provider(context.subject.snapshot.is_not_for_operator()))
            .unwrap_or_default();
        findings.add(
            networks_annotation(),
            format!(
                "network {} ({}) needs a PCI device, but {resource} ({by}) has none",
                network.describe(),
                known.class.plugin.unwrap_or_default()
            ),
            "Use a macvlan network or VFs.",
        );
    }
}

fn check_object(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(network) = context.network_made_of_object() else { return };
    let class = context.snapshot.network_class_by_all_facts(&network.fact);
    let Some(resource) = resource_network_cannot_use(&network.fact, class) else { return };
    let path = match context.kind {
        "NetworkAttachmentDefinition" => "/metadata/annotations/k8s.v1.cni.cncf.io~1resourceName",
        _ => "/spec/resourceName",
    };
    findings.add(
        path,
        format!(
            "{} needs a PCI device, but {resource} ({}) has none: pods never start",
            class.plugin.unwrap_or_default(),
            class.resource.map(|r| r.describe_provider(false)).unwrap_or_default()
        ),
        "Name a resource of the SR-IOV device plugin.",
    );
}

/// Name of the resource, if the network cannot use its devices.
fn resource_network_cannot_use<'a>(fact: &'a NetworkFact, class: ResolvedNetwork<'_>) -> Option<&'a str> {
    let moves = match class.plugin {
        // A configuration that names its own device may not need a device of the resource.
        Some("host-device") => fact.class.interface.is_none(),
        plugin => matches!(plugin, Some("sriov" | "ib-sriov")),
    };
    let shared = class.resource.is_some_and(|r| r.server == ResourceProvider::SharedDevicePlugin);
    fact.resource.as_ref()?.full_if_known().filter(|_| moves && shared)
}
