//! Node labels that the networks of a pod require, under a profile that serves the pod's own networks.

use super::{Change, Edit, Plan, Scene};
use crate::multus::{NodeLabel, parse};
use crate::text::printable;

/// Plans the labels that the pod's node selector does not have yet, with any value. Networks that the plan adds count
/// too.
pub(super) fn plan(scene: Scene<'_>, plan: &mut Plan) {
    let value = plan.changes.iter().find_map(|c| match &c.edit {
        Edit::Networks { value, .. } => Some(value.clone()),
        _ => None,
    });
    let merged = value.as_deref().and_then(|value| parse(value).ok());
    let own = scene.networks.and_then(|n| n.as_ref().ok());
    let Some(networks) = merged.as_ref().or(own) else { return };
    let mut planned: Vec<&str> = Vec::new();
    for item in &networks.items {
        let namespace = item.namespace.as_deref().unwrap_or(scene.namespace);
        let fact = scene.snapshot.network(namespace, &item.name);
        let fact = fact.filter(|_| super::serves_namespace(scene.namespace, namespace));
        let Some(label) = fact.and_then(|f| NodeLabel::parse(f.node_selector.as_deref()?)) else { continue };
        if planned.contains(&label.key) || scene.pod.node_selector_value(label.key).is_some() {
            continue;
        }
        planned.push(label.key);
        plan.changes.push(Change {
            edit: Edit::NodeSelector { key: label.key.to_owned(), value: label.value.to_owned() },
            reason: format!("network {namespace}/{} is on these nodes", printable(&item.name, 120)),
        });
    }
}
