//! The networks annotation: the profile's rails merged with what is there.

use super::{Change, Edit, Plan, RAILS_ANNOTATION, Scene};
use crate::fabric::profile::Inject;
use crate::fabric::{Evidence, Profile, Rail};
use crate::multus::{Networks, Selection, parse};
use crate::text::count;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn plan(
    scene: Scene<'_>,
    profile: &Profile,
    rails: &[Rail],
    evidence: &Evidence,
    plan: &mut Plan,
) {
    if rails.is_empty() {
        return;
    }
    let existing: Option<&Networks<'_>> = scene.networks.and_then(|n| n.as_ref().ok());
    let items: &[Selection<'_>] = existing.map(|n| n.items.as_slice()).unwrap_or_default();
    let mut missing = missing(rails, items, scene.namespace);
    let have = rails.len() - missing.len();
    if profile.inject == Inject::Annotations {
        with_devices(scene, rails, items, &mut missing);
    }
    let left_out = rails.len() - have - missing.len();
    if missing.is_empty() {
        return;
    }
    // A rail keeps its own interface; where the user gave that name to another network, it gets one that no rail has.
    let taken: BTreeSet<&str> = items.iter().filter_map(|i| i.interface.as_deref()).collect();
    let mut spare = (profile.rails.len()..)
        .map(|n| format!("rail{n}"))
        .filter(|name| !taken.contains(name.as_str()) && profile.rails.iter().all(|r| r.interface != *name));
    let added: Vec<Selection<'_>> = missing
        .iter()
        .map(|rail| Selection {
            namespace: rail.network.namespace.as_deref().map(Cow::Borrowed),
            name: Cow::Borrowed(&rail.network.name),
            interface: if taken.contains(rail.interface.as_str()) {
                spare.next().map(Cow::Owned)
            } else {
                Some(Cow::Borrowed(rail.interface.as_str()))
            },
        })
        .collect();
    let value = existing.map_or_else(|| short(&added), |n| n.append(&added));
    let whole = count(rails.len(), "rail");
    let whole = match scene.pod.annotation(RAILS_ANNOTATION) {
        Some(subset) => format!("{whole} of subset {subset} of profile {}", profile.name),
        None => format!("{whole} of profile {}", profile.name),
    };
    let reason = if left_out > 0 {
        let devices = count(rails.len() - left_out, "rail");
        format!("devices for {devices}; {have} of {whole} attached")
    } else if have == 0 {
        format!("{whole} ({})", evidence.words())
    } else {
        format!("{have} of {whole} attached, {} missing", missing.len())
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

/// Keeps the rails that the pod has devices for. Where it asks units of a resource itself, and ours is not to raise
/// them, an attachment beyond them gets no device and the pod never starts. Where it asks none, another webhook adds
/// as many as there are attachments (k8snetworkplumbingwg/network-resources-injector pkg/webhook).
fn with_devices(scene: Scene<'_>, rails: &[Rail], items: &[Selection<'_>], missing: &mut Vec<&Rail>) {
    let mut room: BTreeMap<&str, i64> = BTreeMap::new();
    for name in rails.iter().filter_map(|r| r.resource.as_deref()) {
        let held = super::resources::held(scene, name);
        if held > 0 {
            room.insert(name, held);
        }
    }
    for item in items {
        let namespace = item.namespace.as_deref().unwrap_or(scene.namespace);
        let rail = rails.iter().find(|r| r.network.is(namespace, &item.name, scene.namespace));
        if let Some(left) = rail.and_then(|r| room.get_mut(r.resource.as_deref()?)) {
            *left -= 1;
        }
    }
    missing.retain(|rail| match rail.resource.as_deref().and_then(|name| room.get_mut(name)) {
        Some(left) => {
            *left -= 1;
            *left >= 0
        }
        None => true,
    });
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

/// The rail of the profile behind each attachment of the final annotation, in its order; attachments of other
/// networks are left out.
pub(super) fn attached_rails<'p>(scene: Scene<'_>, profile: &'p Profile, plan: &Plan) -> Vec<&'p Rail> {
    let planned = plan.changes.iter().find_map(|c| match &c.edit {
        Edit::Networks { value, .. } => parse(value).ok(),
        _ => None,
    });
    let existing = scene.networks.and_then(|n| n.as_ref().ok());
    let items = planned.as_ref().or(existing).map(|n| n.items.as_slice()).unwrap_or_default();
    let rail = |item: &Selection<'_>| {
        let namespace = item.namespace.as_deref().unwrap_or(scene.namespace);
        profile.rail_on(namespace, &item.name, scene.namespace)
    };
    items.iter().filter_map(rail).collect()
}
