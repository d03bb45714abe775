//! FAB133: default route over a secondary network.

use super::attachments_with_facts::attachments_of_pod;
use super::ipam_of_network_object::IpamText;
use crate::multus::ipam::index_of_first_default_route;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::{
    CIDR_POOL, HOST_DEVICE_NETWORK, IP_POOL, IPOIB_NETWORK, MACVLAN_NETWORK, NETWORK_ATTACHMENT_DEFINITION,
    OVS_NETWORK, SRIOV_IB_NETWORK, SRIOV_NETWORK,
};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod::networks_annotation;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB133",
    severity: Severity::Warning,
    files: files!(),
    kinds: &[
        NETWORK_ATTACHMENT_DEFINITION,
        MACVLAN_NETWORK,
        IPOIB_NETWORK,
        HOST_DEVICE_NETWORK,
        SRIOV_NETWORK,
        SRIOV_IB_NETWORK,
        OVS_NETWORK,
        IP_POOL,
        CIDR_POOL,
    ],
    pod: Some(check_pod),
    object: Some(check_object),
    ..Rule::DEFAULT
};

const MESSAGE: &str =
    "the default route leads over a secondary network: pods no longer reach services, DNS and the API server";

const FIX: &str = "In ipam.routes, write only the fabric's subnets, such as those of other rails.";

fn check_object(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    if context.group == "nv-ipam.nvidia.com" {
        let gateway = context.whole_object().and_then(|pool| pool.pointer("/spec/defaultGateway"));
        if gateway.and_then(serde_json::Value::as_bool) == Some(true) {
            findings.add(
                "/spec/defaultGateway",
                MESSAGE,
                "Remove defaultGateway, and set routes to the fabric's subnets.",
            );
        }
        return;
    }
    let Some(ipam) = IpamText::read(context) else { return };
    if let Some(index) = index_of_first_default_route(ipam.object) {
        ipam.report(findings, Severity::Warning, &format!("/routes/{index}"), MESSAGE, FIX);
    }
}

fn check_pod(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let gateways =
        || attachments_of_pod(context).filter_map(|a| Some((a.place, a.item.requests.as_deref()?)));
    let of_family = |v4: bool| {
        let all = gateways().flat_map(|(_, r)| &r.default_routes);
        all.filter(|ip| ip.is_ipv4() == v4).count()
    };
    let first = gateways().find(|(_, r)| !r.default_routes.is_empty());
    // Multus refuses more than one default route, which FAB135 reports.
    if let Some((place, _)) = first.filter(|_| of_family(true) < 2 && of_family(false) < 2) {
        findings.add(
            networks_annotation(),
            format!(
                "item {place} of the networks annotation sets default-route: the pod no longer reaches services, DNS and the API server"
            ),
            "Remove default-route from the item.",
        );
    }
}
