//! FAB106: network that does not exist in the namespace where Multus looks for it.

use crate::multus::Selection;
use crate::profile::schema::Inject;
use crate::rules::finding::{Findings, Severity};
use crate::rules::pod_context::PodContext;
use crate::rules::pointers_in_pod::annotation_path;
use crate::rules::rule_declaration::{Reach, Rule, files};
use crate::text::printable;
use std::collections::HashSet;

pub(super) static RULE: Rule = Rule {
    id: "FAB106",
    severity: Severity::Warning,
    files: files!(),
    reach: Reach::AnyWarns,
    pod: Some(check),
    ..Rule::DEFAULT
};

/// Maximum number of networks that are reported for one pod.
const MAX_REPORTED: usize = 16;

fn check(context: &PodContext<'_>, findings: &mut Findings<'_>) {
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
        let on_rail =
            || profile.is_some_and(|p| p.rail_on(namespace, &item.name, context.subject.namespace).is_some());
        if seen.len() < MAX_REPORTED
            && context.subject.snapshot.network(namespace, &item.name).is_none()
            && seen.insert((namespace, &*item.name))
            && !on_rail()
        {
            report(context, item, namespace, findings);
        }
    }
}

fn report(context: &PodContext<'_>, item: &Selection<'_>, namespace: &str, findings: &mut Findings<'_>) {
    let listed = context.subject.snapshot.knows_all_networks_of(namespace);
    let (name, shown) = (&*item.name, printable(&item.name, 100));
    let network = format!("{}/{shown}", printable(namespace, 63));
    if context.subject.snapshot.is_not_for_operator() {
        // The pod's owner learns nothing about other namespaces, not even that a network is missing.
        if listed && namespace == context.subject.namespace {
            findings.add(
                annotation_path(),
                format!("network {network} does not exist: the annotation names no namespace, so Multus looks in the pod's own namespace"),
                "Write the network as namespace/name, or create the network in the pod's namespace.",
            );
        }
        return;
    }
    let elsewhere = context.subject.snapshot.namespaces_of_network(name);
    match (listed, elsewhere.first()) {
        (_, Some(other)) => findings.add(
            annotation_path(),
            format!(
                "network {shown} exists in namespace {other:?}, but Multus looks for this network only in namespace {:?}",
                printable(namespace, 63)
            ),
            format!(
                "Write {other}/{shown}, or create the network in namespace {:?}.",
                printable(namespace, 63)
            ),
        ),
        (true, None) => findings.add(
            annotation_path(),
            format!("network {network} does not exist: the pod stays in ContainerCreating"),
            "Create the NetworkAttachmentDefinition, or correct its name and namespace.",
        ),
        (false, None) => {}
    }
}
