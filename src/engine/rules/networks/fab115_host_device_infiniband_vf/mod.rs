//! FAB115: host-device network over InfiniBand VFs.

use super::network_with_ipam_text::fact;
use crate::facts::Server;
use crate::multus::LinkLayer;
use crate::rules::finding::{Findings, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::{HOST_DEVICE_NETWORK, NETWORK_ATTACHMENT_DEFINITION};
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB115",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[NETWORK_ATTACHMENT_DEFINITION, HOST_DEVICE_NETWORK],
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some(fact) = fact(context).filter(|f| f.class.plugin.as_deref() == Some("host-device")) else {
        return;
    };
    let class = context.snapshot.class_of(fact);
    let Some(resource) = class.resource else { return };
    if resource.server == Server::SriovOperator && resource.link == Some(LinkLayer::InfiniBand) {
        let path = match context.kind {
            "HostDeviceNetwork" => "/spec/resourceName",
            _ => "/spec/config",
        };
        findings.add(
            path,
            format!(
                "resource {} has InfiniBand VFs (see SriovNetworkNodePolicy): plugin host-device gives them no GUID, so their ports stay down",
                resource.name
            ),
            "Use plugin ib-sriov (kind SriovIBNetwork).",
        );
    }
}
