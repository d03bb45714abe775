//! FAB105: two networks of a pod with the same interface name.

use super::annotation_in_cel::{CEL_NETWORKS, short_form_pattern};
use crate::multus::RequestedAttachment;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod::networks_annotation;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};
use crate::rules::rules_in_cel::{self, Cel, CelCheck, CelCondition};
use crate::text::escaped_and_cut;
use std::collections::BTreeMap;

pub(super) static RULE: Rule = Rule {
    id: "FAB105",
    severity: Severity::Error,
    files: files!(),
    reach: PodsChecked::Any,
    pod: Some(check),
    cel: Some(cel),
    ..Rule::DEFAULT
};

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    // Multus attaches nothing to a hostNetwork pod; FAB102 reports that.
    let Some(Ok(networks)) = context.final_networks.filter(|_| !context.pod().host_network()) else {
        return;
    };
    let items = || networks.items.iter().enumerate().map(|(i, item)| (i + 1, item));
    let mut first: BTreeMap<&str, usize> = BTreeMap::new();
    for (place, item) in items() {
        let Some(name) = item.interface.as_deref() else { continue };
        let network = || escaped_and_cut(&item.name, 100);
        let fix = "Give every network its own interface, such as rail0, rail1.";
        if matches!(name, "eth0" | "lo") {
            findings.add(
                networks_annotation(),
                format!("item {place} ({}) requests interface {name}, which every pod already has: the pod sandbox fails", network()),
                fix,
            );
        } else if let Some(other) = first.get(name) {
            findings.add(
                networks_annotation(),
                format!(
                    "items {other} and {place} ({}) both request interface {name}: the pod sandbox fails",
                    network()
                ),
                fix,
            );
        } else {
            first.insert(name, place);
        }
    }
    // Istio requests its CNI plugin as a network, but this plugin creates no interface (istio/istio
    // pkg/kube/inject/template.go).
    let by_place = |item: &RequestedAttachment<'_>| item.interface.is_none() && item.name != "istio-cni";
    for (place, item) in items().filter(|(_, item)| by_place(item) && !first.is_empty()) {
        if let Some(other) = first.get(format!("net{place}").as_str()) {
            findings.add(
                networks_annotation(),
                format!(
                    "item {other} requests interface net{place}, which Multus gives to item {place} ({}): the pod sandbox fails",
                    escaped_and_cut(&item.name, 100)
                ),
                "Name an interface for every network in the annotation, or for none of them.",
            );
        }
    }
}

fn cel() -> Cel {
    let items = format!(
        "!object.spec.?hostNetwork.orValue(false) && variables.networks.matches({}) ?\n\
             variables.networks.split(',') : []",
        rules_in_cel::cel_literal(&short_form_pattern())
    );
    // The expression compares every two interfaces, so the list is limited to stay within the cost limit of CEL.
    let interfaces = "variables.items.size() > 100 ? [] :\n\
                          variables.items.filter(i, i.contains('@')).map(i, i.split('@')[1].trim())";
    let twice = "variables.interfaces.exists(i, variables.interfaces.filter(j, j == i).size() > 1)";
    // Multus names the interface of the first item net1, unless the item names another interface.
    let by_place = "variables.items.exists(i, i.matches('@net[1-9][0-9]{0,2}[ ]*$') &&\n\
                        int(i.split('@net')[1].trim()) <= variables.items.size() &&\n\
                        !variables.items[int(i.split('@net')[1].trim()) - 1].matches('@|istio-cni[ ]*$'))";
    let check = |wrong: &'static str, message| CelCheck {
        severity: Severity::Error,
        wrong: CelCondition::Object(wrong.into()),
        message,
    };
    Cel {
        variables: vec![
            ("networks", CEL_NETWORKS.into()),
            ("items", items.into()),
            ("interfaces", interfaces.into()),
        ],
        checks: vec![
            check(
                "variables.items.exists(i, i.matches('@(eth0|lo)[ ]*$'))",
                "a network requests interface eth0 or lo, which every pod already has: the pod sandbox fails; give every network its own interface, such as rail0, rail1",
            ),
            check(
                twice,
                "two networks request the same interface: the pod sandbox fails; give every network its own interface, such as rail0, rail1",
            ),
            check(
                by_place,
                "a network requests an interface that Multus gives to another network: the pod sandbox fails; name an interface for \
                     every network in the annotation, or for none of them",
            ),
        ],
        beyond: Some("JSON lists, more than 100 networks, and text of more than 8000 characters"),
    }
}
