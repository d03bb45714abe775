//! FAB130: host-local IPAM on a network that connects several nodes.

use super::attachments_with_facts::attachments_of_pod;
use super::ipam_of_network_object::IpamText;
use crate::multus::ipam::IpamPlugin;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::NETWORKS_WITH_IPAM;
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod::networks_annotation;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB130",
    severity: Severity::Warning,
    files: files!(),
    kinds: NETWORKS_WITH_IPAM,
    reach: PodsChecked::AnyWarns,
    pod: Some(check_pod),
    object: Some(check_object),
    ..Rule::DEFAULT
};

/// Plugins whose interfaces reach other nodes; `bridge` and `ptp` do not.
const ACROSS_NODES: [&str; 7] = ["sriov", "ib-sriov", "host-device", "macvlan", "ipvlan", "ipoib", "ovs"];

const USE: &str = "Use nv-ipam or whereabouts, which share one range among the nodes.";

fn check_object(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(ipam) = IpamText::read(context) else { return };
    let host_local = ipam.object.get("type").and_then(serde_json::Value::as_str) == Some("host-local");
    if host_local && ACROSS_NODES.contains(&ipam.plugin) {
        ipam.report(
            findings,
            Severity::Warning,
            "/type",
            "host-local starts at the same address on every node: pods on different nodes get the same address",
            USE,
        );
    }
}

fn check_pod(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let local = |f: &crate::multus::NetworkFact| {
        f.addressing.ipam.as_ref().is_some_and(|i| i.allocator == IpamPlugin::HostLocal)
            && f.class.plugin.as_deref().is_some_and(|p| ACROSS_NODES.contains(&p))
    };
    let Some(first) = attachments_of_pod(context).find(|a| a.fact.is_some_and(local)) else { return };
    let together = context.multi_node_evidence().filter(|g| g.several).map(|g| g.words.clone());
    if let Some(words) = together.or_else(|| context.why_several_pods()) {
        findings.add(
            networks_annotation(),
            format!(
                "several pods work together ({words}): host-local gives these pods the same address on network {}",
                first.describe(),
            ),
            USE,
        );
    }
}
