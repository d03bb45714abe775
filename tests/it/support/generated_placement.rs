//! Where pods may land, by chance: their tolerations, selectors and affinity, and the nodes of profiles.

use crate::support::generated_documents::{Dice, put};
use serde_json::{Value, json};

pub(crate) const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";

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
