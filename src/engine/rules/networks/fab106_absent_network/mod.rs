//! FAB106: network that does not exist in the namespace where Multus looks for it.

use crate::multus::RequestedAttachment;
use crate::profile::schema::Inject;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod::networks_annotation;
use crate::rules::rule_declaration::{PodsChecked, Rule, files};
use crate::text::escaped_and_cut;
use std::collections::HashSet;

pub(super) static RULE: Rule = Rule {
    id: "FAB106",
    severity: Severity::Warning,
    files: files!(),
    reach: PodsChecked::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

/// Maximum number of networks that are reported for one pod.
const MAX_REPORTED: usize = 16;

fn check(context: &PodContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(Ok(networks)) = context.subject.networks.as_ref().filter(|_| !context.pod().host_network())
    else {
        return;
    };
    let profile = context.resolution.profile().map(|(p, _)| p);
    // If the profile serves the pod's own networks, FAB104 reports them.
    if profile.is_some_and(|p| p.inject == Inject::Networks) {
        return;
    }
    let mut seen = HashSet::new();
    for item in &networks.items {
        let namespace = item.namespace.as_deref().unwrap_or(context.subject.namespace);
        let on_rail = || {
            profile.is_some_and(|p| {
                p.first_rail_on_network(namespace, &item.name, context.subject.namespace).is_some()
            })
        };
        if seen.len() < MAX_REPORTED
            && context.subject.snapshot.network(namespace, &item.name).is_none()
            && seen.insert((namespace, &*item.name))
            && !on_rail()
        {
            report_if_audience_may_know(context, item, namespace, findings);
        }
    }
}

fn report_if_audience_may_know(
    context: &PodContext<'_>,
    item: &RequestedAttachment<'_>,
    namespace: &str,
    findings: &mut FindingsOfRule<'_>,
) {
    let listed = context.subject.snapshot.knows_all_networks_of(namespace);
    let (name, shown) = (&*item.name, escaped_and_cut(&item.name, 100));
    let network = format!("{}/{shown}", escaped_and_cut(namespace, 63));
    if context.subject.snapshot.is_not_for_operator() {
        // The pod's owner learns nothing about other namespaces, not even that a network is missing.
        if listed && namespace == context.subject.namespace {
            findings.add(
                networks_annotation(),
                format!("network {network} does not exist: the annotation names no namespace, so Multus looks in the pod's own namespace"),
                "Write the network as namespace/name, or create the network in the pod's namespace.",
            );
        }
        return;
    }
    let snapshot = context.subject.snapshot;
    // Each namespace is looked at, for each absent network.
    let elsewhere = match context.deadline.take_looks_for_reasons(snapshot.namespaces_with_networks()) {
        true => snapshot.namespaces_of_network(name),
        false => Vec::new(),
    };
    match (listed, elsewhere.first()) {
        (_, Some(other)) => findings.add(
            networks_annotation(),
            format!(
                "network {shown} exists in namespace {other:?}, but Multus looks for this network only in namespace {:?}",
                escaped_and_cut(namespace, 63)
            ),
            format!(
                "Write {other}/{shown}, or create the network in namespace {:?}.",
                escaped_and_cut(namespace, 63)
            ),
        ),
        (true, None) => findings.add(
            networks_annotation(),
            format!("network {network} does not exist: the pod stays in ContainerCreating"),
            "Create the NetworkAttachmentDefinition, or correct its name and namespace.",
        ),
        (false, None) => {}
    }
}
