//! Node labels that the networks of a pod require, under a profile that serves the pod's own networks.

use super::{Change, Edit, OwnFieldKept};
use crate::demands::Subject;
use crate::multus::{NodeLabel, parse_all};
use crate::text::escaped_and_cut;
use std::collections::HashSet;

/// The labels that the pod does not ask yet, and those of which it asks another value. The networks that are planned already count too.
pub(super) fn plan(subject: &Subject<'_>, planned: &[Change]) -> (Vec<Change>, Vec<OwnFieldKept>) {
    let (mut changes, mut kept) = (Vec::new(), Vec::new());
    let value = planned.iter().find_map(|c| match &c.edit {
        Edit::Networks { value, .. } => Some(value.clone()),
        _ => None,
    });
    let merged = value.as_deref().and_then(|value| parse_all(value).ok());
    let own = subject.readable_networks();
    let Some(networks) = merged.as_ref().or(own) else { return (changes, kept) };
    let mut keys: HashSet<&str> = HashSet::new();
    for item in &networks.items {
        let namespace = item.namespace.as_deref().unwrap_or(subject.namespace);
        let fact = subject.snapshot.network(namespace, &item.name);
        let fact = fact.filter(|_| super::is_own_or_default_namespace(subject.namespace, namespace));
        let Some(label) = fact.and_then(|f| NodeLabel::parse(f.node_selector.as_deref()?)) else { continue };
        if !keys.insert(label.key) {
            continue;
        }
        if let Some(own) = subject.pod.node_selector_value(label.key) {
            let differs =
                OwnFieldKept::NodeLabel { key: label.key.to_owned(), wanted: label.value.to_owned() };
            kept.extend((own != label.value).then_some(differs));
            continue;
        }
        changes.push(Change {
            edit: Edit::NodeSelector { key: label.key.to_owned(), value: label.value.to_owned() },
            reason: format!("network {namespace}/{} is on these nodes", escaped_and_cut(&item.name, 120))
                .into(),
        });
    }
    (changes, kept)
}
