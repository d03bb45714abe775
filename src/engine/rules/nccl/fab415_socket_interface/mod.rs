//! FAB415: NCCL_SOCKET_IFNAME names an interface that the pod does not have, or the loopback interface.

use super::nccl_version_and_other_networks::has_networks_beside_annotation;
use crate::nccl::interface_and_device_lists::NameList;
use crate::nccl::numbers_as_nccl_reads::has_unknown_part;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::rule_declaration::{Rule, files};
use crate::text::escaped_and_cut;
use std::cell::LazyCell;

pub(super) static RULE: Rule = Rule {
    id: "FAB415",
    severity: Severity::Warning,
    lesser: &[(Severity::Info, "Multus creates an interface such as net1 if the pod gets a network later")],
    files: files!(),
    pod: Some(check),
    ..Rule::DEFAULT
};

const NAME: &str = "NCCL_SOCKET_IFNAME";

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    if context.pod().host_network() {
        return;
    }
    let interfaces = LazyCell::new(|| {
        let known = context.attachments().interfaces.as_deref();
        known.filter(|_| !has_networks_beside_annotation(context))
    });
    let all = LazyCell::new(|| {
        let networks = interfaces.iter().flat_map(|networks| networks.iter()).map(|name| &**name);
        let mut all: Vec<&str> = networks.chain(["eth0", "lo"]).collect();
        all.sort_unstable();
        all
    });
    for variables in context.variables() {
        let Some(given) = variables.own_setting_that_counts(NAME) else { continue };
        let Some(value) = given.value.as_deref().filter(|v| v.len() > 1 && !has_unknown_part(v)) else {
            continue;
        };
        let list = NameList::parse(value);
        if list.excludes || list.first_mistake().is_some() {
            continue;
        }
        let place = variables.place_in_words(given);
        if list.names().all(|n| n == "lo") {
            if let Some(gang) = context.multi_node_evidence().filter(|gang| gang.several) {
                findings.add(
                    variables.pointer_of_setting(given),
                    format!(
                        "{NAME}=lo{place}, but the job has several pods ({}): ranks cannot reach other pods through lo",
                        gang.words
                    ),
                    "Set NCCL_SOCKET_IFNAME to eth0.",
                );
            }
            continue;
        }
        let Some(networks) = *interfaces else { return };
        if list.has_any_ignoring_exclusion(&all) {
            continue;
        }
        // A controller may still give a template its annotation.
        let named = list
            .names()
            .any(|n| n.strip_prefix("net").is_some_and(|d| d.bytes().all(|b| b.is_ascii_digit())));
        let severity = if named && networks.is_empty() { Severity::Info } else { Severity::Warning };
        let have: Vec<String> = networks.iter().take(4).map(|n| escaped_and_cut(n, 15)).collect();
        let have = if have.is_empty() { "eth0".to_owned() } else { format!("eth0, {}", have.join(", ")) };
        findings.add_with_severity(
            severity,
            variables.pointer_of_setting(given),
            format!(
                "{NAME}={}{place} matches none of the pod's interfaces ({have}): NCCL fails at start-up",
                escaped_and_cut(value, 40)
            ),
            "Write eth0, or an interface that the networks annotation names.",
        );
    }
}
