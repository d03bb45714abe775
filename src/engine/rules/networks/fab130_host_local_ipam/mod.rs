//! FAB130: host-local IPAM on a network that connects several nodes.

use super::attachments_with_facts::attached;
use super::network_with_ipam_text::IpamText;
use crate::multus::ipam::Allocator;
use crate::rules::finding::{Findings, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::WITH_IPAM;
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod::annotation_path;
use crate::rules::rule_declaration::{Reach, Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB130",
    severity: Severity::Warning,
    files: files!(),
    kinds: WITH_IPAM,
    reach: Reach::AnyWarns,
    pod: Some(check_pod),
    object: Some(check_object),
    ..Rule::DEFAULT
};

/// Plugins whose interfaces reach other nodes; `bridge` and `ptp` do not.
const ACROSS_NODES: [&str; 7] = ["sriov", "ib-sriov", "host-device", "macvlan", "ipvlan", "ipoib", "ovs"];

const USE: &str = "Use nv-ipam or whereabouts, which share one range among the nodes.";

fn check_object(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
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

fn check_pod(context: &PodContext<'_>, findings: &mut Findings<'_>) {
    let local = |f: &crate::multus::NetworkFact| {
        f.addressing.ipam.as_ref().is_some_and(|i| i.allocator == Allocator::HostLocal)
            && f.class.plugin.as_deref().is_some_and(|p| ACROSS_NODES.contains(&p))
    };
    let Some(first) = attached(context).find(|a| a.fact.is_some_and(local)) else { return };
    let together = context.gang().filter(|g| g.several).map(|g| g.words.clone());
    if let Some(words) = together.or_else(|| context.why_several_pods()) {
        findings.add(
            annotation_path(),
            format!(
                "several pods work together ({words}): host-local gives these pods the same address on network {}",
                first.describe(),
            ),
            USE,
        );
    }
}
