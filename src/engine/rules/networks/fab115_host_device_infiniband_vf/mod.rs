//! FAB115: host-device network over InfiniBand VFs.

use super::ipam_of_network_object::fact_of_network_object;
use crate::facts::ResourceProvider;
use crate::multus::LinkLayer;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::{HOST_DEVICE_NETWORK, NETWORK_ATTACHMENT_DEFINITION};
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB115",
    severity: Severity::Info,
    files: files!(),
    kinds: &[NETWORK_ATTACHMENT_DEFINITION, HOST_DEVICE_NETWORK],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(fact) =
        fact_of_network_object(context).filter(|f| f.class.plugin.as_deref() == Some("host-device"))
    else {
        return;
    };
    let class = context.snapshot.network_class_by_all_facts(fact);
    let Some(resource) = class.resource else { return };
    if resource.server == ResourceProvider::SriovOperator && resource.link == Some(LinkLayer::InfiniBand) {
        let path = match context.kind {
            "HostDeviceNetwork" => "/spec/resourceName",
            _ => "/spec/config",
        };
        findings.add(
            path,
            format!(
                "resource {} has InfiniBand VFs (see SriovNetworkNodePolicy): with plugin host-device, a VF keeps the GUID that the SR-IOV operator gave it, so ib-kubernetes cannot add the pod to a partition",
                resource.name
            ),
            "If pods need partitions (PKeys) of their own, use plugin ib-sriov (kind SriovIBNetwork).",
        );
    }
}
