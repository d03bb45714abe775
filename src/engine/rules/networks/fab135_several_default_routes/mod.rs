//! FAB135: several default routes of one address family in the networks annotation.

use super::attachments_with_facts::attachments_of_pod;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod::networks_annotation;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB135",
    severity: Severity::Error,
    files: files!(),
    reach: PodsChecked::Any,
    pod: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    for (family, v4) in [("IPv4", true), ("IPv6", false)] {
        let gateways =
            attachments_of_pod(context).filter_map(|a| Some((a.place, a.item.requests.as_deref()?)));
        let mut places = gateways.flat_map(|(place, requests)| {
            requests.default_routes.iter().filter(|ip| ip.is_ipv4() == v4).map(move |_| place)
        });
        if let (Some(first), Some(second)) = (places.next(), places.next()) {
            findings.add(
                networks_annotation(),
                format!(
                    "items {first} and {second} of the networks annotation both request the {family} default route: Multus refuses the pod"
                ),
                "Request the default route on only one network, or on none.",
            );
        }
    }
}
