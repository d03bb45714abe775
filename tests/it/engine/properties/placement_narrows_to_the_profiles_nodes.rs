//! What a scheduler makes of the patch: a patched pod fits a node if it fitted it before and its profile's selector does.

use crate::support::generated_placement::REQUIRED;
use crate::support::generated_world::World;
use fabric_admission::plan::Edit;
use fabric_admission::profile::NodeAffinity;
use fabric_admission::profile::schema::Inject;
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) fn narrows(world: &World) -> Result<(), String> {
    let (Some(decision), patched) = (world.decide(), world.patched()?) else { return Ok(()) };
    // A pod with a fabric of its own stays free to go where that is.
    let other = decision.plan.user_fabric.as_ref().is_some_and(|b| b.other_fabric().is_some());
    let withheld = other || decision.plan.withheld.is_some();
    let planned = !decision.denied && !withheld && !decision.plan.targets.is_empty();
    let named = decision.profile.as_deref();
    let profile = world.profile.as_ref().or_else(|| world.snapshot.profile(named?));
    let bound = world.pod["spec"]["nodeName"].as_str().is_some_and(|n| !n.is_empty());
    let pinned = profile
        .filter(|p| planned && !bound && matches!(p.inject, Inject::Full | Inject::Networks))
        .filter(|p| p.node_affinity == NodeAffinity::Required && decision.profile.is_some());
    for node in nodes() {
        let networks = decision.plan.changes.iter().all(|c| match &c.edit {
            Edit::NodeSelector { key, value } => node.get(key) == Some(value),
            _ => true,
        });
        let profile = pinned.is_none_or(|p| p.node_selector.as_ref().is_some_and(|s| s.matches(&node)));
        let fabric = networks && profile;
        let (before, after) = (fits(&world.pod, &node), fits(&patched, &node));
        if after != (before && fabric) {
            return Err(format!("{node:?}: fits {before} before and {after} after, its fabric {fabric}"));
        }
    }
    Ok(())
}

fn nodes() -> Vec<BTreeMap<String, String>> {
    let mut nodes = Vec::new();
    for fabric in [None, Some("roce"), Some("ib")] {
        for rack in [None, Some("r1"), Some("r3"), Some("")] {
            for zone in [None, Some("a")] {
                let labels = [("fabric", fabric), ("rack", rack), ("zone", zone)];
                let labels = labels.iter().filter_map(|(k, v)| Some(((*k).to_owned(), (*v)?.to_owned())));
                nodes.push(labels.collect());
            }
        }
    }
    nodes
}

/// What the scheduler says of a node with these labels, named node-7. A selector without terms, which the API server
/// refuses, matches no node.
fn fits(pod: &Value, node: &BTreeMap<String, String>) -> bool {
    let selector = pod["spec"]["nodeSelector"].as_object();
    let required = pod["spec"]["affinity"]["nodeAffinity"][REQUIRED].as_object();
    let terms = required.map(|r| r.get("nodeSelectorTerms").and_then(Value::as_array));
    selector.is_none_or(|labels| {
        labels.iter().all(|(k, v)| node.get(k).map(String::as_str) == Some(v.as_str().unwrap_or_default()))
    }) && terms.is_none_or(|terms| terms.into_iter().flatten().any(|t| term_fits(t, node)))
}

fn term_fits(term: &Value, node: &BTreeMap<String, String>) -> bool {
    let list = |name: &str| term[name].as_array().cloned().unwrap_or_default();
    let (expressions, fields) = (list("matchExpressions"), list("matchFields"));
    let name = BTreeMap::from([("metadata.name".to_owned(), "node-7".to_owned())]);
    (!expressions.is_empty() || !fields.is_empty())
        && expressions.iter().all(|e| holds(e, node))
        && fields.iter().all(|e| holds(e, &name))
}

fn holds(expression: &Value, labels: &BTreeMap<String, String>) -> bool {
    let value = labels.get(expression["key"].as_str().unwrap_or_default());
    let values = expression["values"].as_array().cloned().unwrap_or_default();
    let listed = value.is_some_and(|v| values.iter().any(|w| w.as_str().unwrap_or_default() == v));
    match expression["operator"].as_str() {
        Some("In") => listed,
        Some("NotIn") => !listed,
        Some("Exists") => value.is_some(),
        Some("DoesNotExist") => value.is_none(),
        _ => false,
    }
}
