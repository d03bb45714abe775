//! The networks annotation: the profile's rails merged with what is there.

use super::{Change, Edit, Plan, Scene};
use crate::fabric::{Evidence, Profile, Rail};
use crate::multus::{Networks, Selection, parse};
use crate::text::count;
use std::borrow::Cow;
use std::collections::BTreeMap;

pub(super) fn plan(scene: Scene<'_>, profile: &Profile, evidence: &Evidence, plan: &mut Plan) {
    let rails = profile.rails_for(plan.accelerators);
    if rails.is_empty() {
        return;
    }
    let existing: Option<&Networks<'_>> = scene.networks.and_then(|n| n.as_ref().ok());
    let items: &[Selection<'_>] = existing.map(|n| n.items.as_slice()).unwrap_or_default();
    let missing = missing(rails, items, scene.namespace);
    if missing.is_empty() {
        return;
    }
    let mut taken: Vec<&str> = items.iter().filter_map(|i| i.interface.as_deref()).collect();
    let added: Vec<Selection<'_>> = missing
        .iter()
        .map(|rail| {
            // The rail's own name, or the next free one where the user gave that name to another network.
            let interface = if taken.contains(&rail.interface.as_str()) {
                let free = rails.iter().find(|r| !taken.contains(&r.interface.as_str()));
                free.map(|r| r.interface.as_str())
            } else {
                Some(rail.interface.as_str())
            };
            taken.extend(interface);
            Selection {
                namespace: rail.network.namespace.as_deref().map(Cow::Borrowed),
                name: Cow::Borrowed(&rail.network.name),
                interface: interface.map(Cow::Borrowed),
            }
        })
        .collect();
    let value = existing.map_or_else(|| short(&added), |n| n.append(&added));
    let have = rails.len() - missing.len();
    let reason = if have == 0 {
        format!("{} of profile {} ({})", count(rails.len(), "rail"), profile.name, evidence.words())
    } else {
        format!(
            "{have} of {} of profile {} attached, {} missing",
            count(rails.len(), "rail"),
            profile.name,
            missing.len()
        )
    };
    plan.changes.push(Change { edit: Edit::Networks { value, present: existing.is_some() }, reason });
}

/// The rails that no attachment of the pod serves. A network named n times serves n rails.
fn missing<'a>(rails: &'a [Rail], items: &[Selection<'_>], pod_namespace: &str) -> Vec<&'a Rail> {
    let mut left: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for item in items {
        let namespace = item.namespace.as_deref().unwrap_or(pod_namespace);
        *left.entry((namespace, &item.name)).or_default() += 1;
    }
    rails
        .iter()
        .filter(|rail| {
            let namespace = rail.network.namespace.as_deref().unwrap_or(pod_namespace);
            match left.get_mut(&(namespace, rail.network.name.as_str())) {
                Some(n) if *n > 0 => {
                    *n -= 1;
                    false
                }
                _ => true,
            }
        })
        .collect()
}

/// The networks of an annotation, with repetitions counted: `default/net x8 (rail0 to rail7)`.
pub(super) fn summary(value: &str) -> String {
    let Ok(networks) = parse(value) else { return value.to_owned() };
    let name = |s: &Selection<'_>| match &s.namespace {
        Some(namespace) => format!("{namespace}/{}", s.name),
        None => s.name.to_string(),
    };
    let groups = networks.items.chunk_by(|a, b| {
        a.name == b.name && a.namespace == b.namespace && a.interface.is_some() == b.interface.is_some()
    });
    let words = groups.map(|group| match group {
        [one] => one.short(),
        [first, ..] => {
            let interfaces: Vec<&str> = group.iter().filter_map(|s| s.interface.as_deref()).collect();
            format!("{} x{}{}", name(first), group.len(), range(&interfaces))
        }
        [] => String::new(),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Interface names in brackets: a range where they count up, else each.
fn range(interfaces: &[&str]) -> String {
    let parts = |name: &str| {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
        let number = name.strip_prefix(stem.as_str())?.parse::<u64>().ok()?;
        Some((stem, number))
    };
    let counts_up = interfaces.windows(2).all(|pair| match pair {
        [a, b] => parts(a).zip(parts(b)).is_some_and(|(a, b)| a.0 == b.0 && a.1 + 1 == b.1),
        _ => false,
    });
    match interfaces {
        [] => String::new(),
        [first, .., last] if counts_up => format!(" ({first} to {last})"),
        each => format!(" ({})", each.join(", ")),
    }
}

fn short(added: &[Selection<'_>]) -> String {
    added.iter().map(Selection::short).collect::<Vec<_>>().join(",")
}

/// How many attachments of the final annotation carry each resource of the profile.
pub(super) fn attachments_by_resource(
    scene: Scene<'_>,
    profile: &Profile,
    plan: &Plan,
) -> BTreeMap<String, i64> {
    let planned = plan.changes.iter().find_map(|c| match &c.edit {
        Edit::Networks { value, .. } => parse(value).ok(),
        _ => None,
    });
    let existing = scene.networks.and_then(|n| n.as_ref().ok());
    let items = planned.as_ref().or(existing).map(|n| n.items.as_slice()).unwrap_or_default();
    let mut counts: BTreeMap<String, i64> = BTreeMap::new();
    for item in items {
        let namespace = item.namespace.as_deref().unwrap_or(scene.namespace);
        if let Some(resource) = profile.resource_of(namespace, &item.name, scene.namespace) {
            *counts.entry(resource.to_owned()).or_default() += 1;
        }
    }
    counts
}
