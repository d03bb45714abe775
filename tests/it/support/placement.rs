//! Where pods may land, by chance, and what a scheduler would make of it: after the patch a pod fits a node if it
//! fitted it before and its profile's selector does.

use crate::support::generated_documents::{Dice, put};
use crate::support::generated_world::World;
use fabric_admission::plan::Edit;
use fabric_admission::profile::NodeAffinity;
use fabric_admission::profile::schema::Inject;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";

/// Adds what of a pod's spec decides where it lands.
pub(crate) fn spec(spec: &mut Value, dice: &mut Dice<'_>) {
    put(spec, "tolerations", 20, dice, |dice| {
        dice.list(3, |dice| {
            let mut toleration = json!({"unheardOf": [1.0, {"a/b~c": null}]});
            put(&mut toleration, "key", 70, dice, |_| "nvidia.com/gpu".into());
            put(&mut toleration, "operator", 70, dice, |dice| dice.pick(&["Exists", "Equal", ""]).into());
            put(&mut toleration, "value", 30, dice, |_| "present".into());
            put(&mut toleration, "effect", 30, dice, |_| "NoSchedule".into());
            put(&mut toleration, "tolerationSeconds", 20, dice, |_| 30.into());
            toleration
        })
    });
    put(spec, "nodeName", 4, dice, |dice| dice.pick(&["node-7", ""]).into());
    put(spec, "nodeSelector", 30, dice, |dice| {
        let mut labels = json!({});
        put(&mut labels, "fabric", 50, dice, |dice| dice.pick(&["roce", "ib"]).into());
        put(&mut labels, "rack", 30, dice, |dice| dice.pick(&["r1", "r2", ""]).into());
        labels
    });
    put(spec, "affinity", 50, dice, |dice| {
        let mut affinity = json!({"podAntiAffinity": {"x": [1]}});
        put(&mut affinity, "nodeAffinity", 85, dice, |dice| {
            let mut node = json!({});
            put(
                &mut node,
                "preferredDuringSchedulingIgnoredDuringExecution",
                20,
                dice,
                |_| json!([{"weight": 1, "preference": {}}]),
            );
            put(&mut node, REQUIRED, 85, dice, |dice| {
                let mut selector = json!({});
                put(&mut selector, "nodeSelectorTerms", 95, dice, |dice| dice.list(4, term));
                selector
            });
            node
        });
        affinity
    });
}

fn term(dice: &mut Dice<'_>) -> Value {
    let mut term = json!({});
    put(&mut term, "matchExpressions", 75, dice, |dice| dice.list(4, expression));
    put(
        &mut term,
        "matchFields",
        25,
        dice,
        |_| json!([{"key": "metadata.name", "operator": "In", "values": ["node-7"]}]),
    );
    term
}

fn expression(dice: &mut Dice<'_>) -> Value {
    let mut expression = json!({});
    let operators = ["In", "In", "In", "NotIn", "Exists", "DoesNotExist", "Gt"];
    put(&mut expression, "key", 97, dice, |dice| dice.pick(&["fabric", "rack", "zone"]).into());
    put(&mut expression, "operator", 97, dice, |dice| dice.pick(&operators).into());
    put(&mut expression, "values", 70, dice, |dice| {
        dice.pick(&[json!(["roce"]), json!(["r1", "r2"]), json!(["r2", "r1"]), json!([]), json!([null])])
    });
    expression
}

/// Adds a profile's nodes, whether pods are kept to them, and parts of its rails.
pub(crate) fn profile(spec: &mut Value, dice: &mut Dice<'_>) {
    put(spec, "nodeSelector", 60, dice, |dice| {
        let mut selector = json!({});
        put(&mut selector, "matchLabels", 70, dice, |_| json!({"fabric": "roce"}));
        put(&mut selector, "matchExpressions", 50, dice, |dice| {
            let mut list = vec![json!({"key": "rack", "operator": "In", "values": ["r1", "r2"]})];
            if dice.percent(40) {
                list.push(json!({"key": "zone", "operator": dice.pick(&["DoesNotExist", "Exists"])}));
            }
            list.into()
        });
        selector
    });
    if spec["nodeSelector"].as_object().is_some_and(|s| !s.is_empty()) {
        put(
            spec,
            "placement",
            75,
            dice,
            |dice| json!({"nodeAffinity": dice.pick(&["required", "required", "none"])}),
        );
    }
    // The rails of bases that have any are rail0 to rail7.
    let has_rails = |base: &str| !["ethernet-tcp", "aws-efa", "azure-nd"].contains(&base);
    if spec["rails"].is_null() && spec["base"].as_str().is_some_and(has_rails) {
        put(spec, "subsets", 75, dice, |dice| {
            let odd = if dice.odd() { "rail9" } else { "rail0" };
            json!([
                {"name": "s0", "interfaces": [odd]},
                {"name": "s1", "interfaces": ["rail0"]},
            ])
        });
        put(spec, "bootstrap", 40, dice, |dice| if dice.odd() { "rail7".into() } else { "rail0".into() });
    }
}

/// Whether a value may be added below `/spec/affinity`, at a place that is there or not.
pub(crate) fn may_add(path: &[&str], value: &Value, is_new: bool) -> bool {
    let requirement = |v: &Value| {
        let known = ["key", "operator", "values"];
        v.as_object().is_some_and(|o| o.contains_key("operator") && o.keys().all(|k| known.contains(&&**k)))
    };
    let requirements = |v: &Value| v.as_array().is_some_and(|l| !l.is_empty() && l.iter().all(requirement));
    let only = |v: &Value, key: &str| v.as_object().is_some_and(|o| o.len() == 1 && o.contains_key(key));
    let term = |v: &Value| only(v, "matchExpressions") && requirements(&v["matchExpressions"]);
    let terms = |v: &Value| v.as_array().is_some_and(|l| l.len() == 1 && l.iter().all(term));
    let selector = |v: &Value| only(v, "nodeSelectorTerms") && terms(&v["nodeSelectorTerms"]);
    let node = |v: &Value| only(v, REQUIRED) && selector(&v[REQUIRED]);
    match path {
        [] => is_new && only(value, "nodeAffinity") && node(&value["nodeAffinity"]),
        ["nodeAffinity"] => is_new && node(value),
        ["nodeAffinity", REQUIRED] => is_new && selector(value),
        ["nodeAffinity", REQUIRED, "nodeSelectorTerms", _, "matchExpressions"] => {
            is_new && requirements(value)
        }
        ["nodeAffinity", REQUIRED, "nodeSelectorTerms", _, "matchExpressions", "-"] => requirement(value),
        _ => false,
    }
}

/// The property.
pub(crate) fn narrows(world: &World) -> Result<(), String> {
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
