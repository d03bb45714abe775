//! FAB116: requested address, MAC or GUID that the network ignores.

use super::attachments_with_facts::attachments_of_pod;
use crate::multus::NetworkFact;
use crate::multus::ipam::{Ipam, IpamPlugin};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod::networks_annotation;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB116",
    severity: Severity::Warning,
    files: files!(),
    reach: PodsChecked::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for attachment in attachments_of_pod(context) {
        let Some(requests) = attachment.item.requests.as_deref() else { continue };
        let Some(fact) = attachment.fact.filter(|f| f.addressing.known) else { continue };
        let takes = fact.addressing.capabilities;
        let (ips_by_args, mac_by_args) = reads_ip_and_mac_from_cni_args(fact);
        let asked = [
            ("ips", "ips", !requests.ips.is_empty() && !takes.ips && !ips_by_args),
            ("mac", "mac", requests.mac.is_some() && !takes.mac && !mac_by_args),
            ("infiniband-guid", "infinibandGUID", requests.guid.is_some() && !takes.guid),
        ];
        for (key, capability, _) in asked.into_iter().filter(|(.., lost)| *lost) {
            findings.add(
                networks_annotation(),
                format!(
                    "item {} of the networks annotation requests {key:?}, but network {} ({}) ignores this key",
                    attachment.place,
                    attachment.describe(),
                    fact.origin
                ),
                format!(
                    "Add \"capabilities\": {{\"{capability}\": true}} to the network, or remove {key:?}."
                ),
            );
        }
    }
}

/// Whether the network may take addresses, and whether it may take a MAC, without a capability. Multus also passes both
/// in CNI_ARGS, as IP and MAC (k8snetworkplumbingwg/multus-cni pkg/multus/multus.go, DelegateAdd). These plugins do not
/// read IP: whereabouts and dhcp. These do not read MAC: ipvlan, ipoib, host-device and ib-sriov.
fn reads_ip_and_mac_from_cni_args(fact: &NetworkFact) -> (bool, bool) {
    let deaf = |ipam: &Ipam| matches!(ipam.allocator, IpamPlugin::Whereabouts | IpamPlugin::Dhcp);
    let ips = fact.addressing.ipam.as_deref().is_some_and(|ipam| !deaf(ipam));
    let plugin = fact.class.plugin.as_deref();
    let mac = plugin.is_some_and(|p| !matches!(p, "ipvlan" | "ipoib" | "host-device" | "ib-sriov"));
    (ips, mac)
}
