//! What a pod's own resources and networks say about its profile, in words.

use super::MAX_CANDIDATES_SHOWN;
use super::profile_by_resources_and_networks::NodesThatLabelsFit;
use crate::demands::Subject;
use crate::text::escaped_and_cut;
use std::collections::{BTreeMap, BTreeSet};

/// The resources and networks of the pod that profiles know. Each name and each profile is looked at once: a pod may name a
/// resource in a thousand containers, and ask for nodes in dozens of long terms.
pub(super) fn words_of_own_resources_and_networks(subject: &Subject<'_>) -> String {
    let mut said: Vec<String> = Vec::new();
    let mut known: BTreeSet<String> = BTreeSet::new();
    for text in words_of_resources(subject).into_iter().chain(words_of_networks(subject)) {
        // Long names may differ only in what is cut off.
        if known.insert(text.clone()) {
            said.push(text);
        }
    }
    if said.is_empty() {
        "the pod requests no resource and no network of any profile".to_owned()
    } else {
        said.join("; ")
    }
}

fn words_of_resources(subject: &Subject<'_>) -> Vec<String> {
    let catalog = subject.snapshot.catalog();
    let nodes = NodesThatLabelsFit::of(subject);
    let mut excluded: BTreeMap<&str, bool> = BTreeMap::new();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut said = Vec::new();
    for container in subject.pod.containers() {
        for resource in container.resource_names() {
            let is_asked = || container.units_of_resource(resource).is_some_and(|units| units > 0);
            let serving = catalog.with_resource(resource);
            if serving.is_empty() || seen.contains(resource) || !is_asked() {
                continue;
            }
            seen.insert(resource);
            let excludes = match serving {
                [only] => *excluded
                    .entry(only.name.as_str())
                    .or_insert_with(|| nodes.exclude_nodes_of(only, subject)),
                _ => false,
            };
            let words =
                if excludes { ", but the pod's selectors exclude the nodes of this profile" } else { "" };
            let of = first_names(serving.iter().map(|profile| profile.name.as_str()));
            said.push(format!("resource {} belongs to {of}{words}", escaped_and_cut(resource, 80)));
        }
    }
    said
}

fn words_of_networks(subject: &Subject<'_>) -> Vec<String> {
    let catalog = subject.snapshot.catalog();
    let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
    let mut said = Vec::new();
    for item in subject.readable_networks().iter().flat_map(|networks| &networks.items) {
        let namespace = item.namespace.as_deref().unwrap_or(subject.namespace);
        if !seen.insert((namespace, &item.name)) {
            continue;
        }
        let having = catalog.with_network(namespace, &item.name, subject.namespace);
        if !having.is_empty() {
            let of = first_names(having.iter().map(|profile| profile.name.as_str()));
            said.push(format!("network {namespace}/{} belongs to {of}", escaped_and_cut(&item.name, 80)));
        }
    }
    said
}

/// The first names, and the number of the others.
fn first_names<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    let rest = names.len().saturating_sub(MAX_CANDIDATES_SHOWN);
    let more = if rest > 0 { format!(", {rest} more") } else { String::new() };
    let shown: Vec<&str> = names.take(MAX_CANDIDATES_SHOWN).collect();
    format!("{}{more}", shown.join(", "))
}
