//! Nodes, and pods that may run on some of them, by chance; all of it as the API server takes it.

use crate::support::generated_documents::{Dice, put};
use serde_json::{Value, json};

pub(crate) const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";

/// Label keys with their values. `gen` is a number, or a word.
const LABELS: [(&str, &[&str]); 5] = [
    ("pool", &["a", "b", "c"]),
    ("fabric", &["east", "west"]),
    ("rack", &["r1", "r2", "r3", ""]),
    ("gen", &["1", "2", "10", "x"]),
    ("example.com/gpu", &["true"]),
];
const HOSTNAME: &str = "kubernetes.io/hostname";
/// Taints that the API server itself gives no node. `x.io/gpu` is a resource as well.
const TAINTS: [&str; 3] = ["dedicated", "x.io/gpu", "team"];
const TAINT_VALUES: [&str; 3] = ["", "a", "b"];
const EFFECTS: [&str; 3] = ["NoSchedule", "NoExecute", "PreferNoSchedule"];

/// A node named `n{number}`.
pub(crate) fn node(number: usize, dice: &mut Dice<'_>) -> Value {
    let name = format!("n{number}");
    let mut labels = json!({});
    for (key, values) in LABELS {
        if dice.percent(65) {
            labels[key] = dice.pick(values).into();
        }
    }
    match dice.below(10) {
        0 => {}
        1 => labels[HOSTNAME] = format!("n{}", dice.below(6)).into(),
        2 => labels[HOSTNAME] = "host".into(),
        _ => labels[HOSTNAME] = name.clone().into(),
    }
    let mut taints = Vec::new();
    for key in TAINTS {
        if dice.percent(25) {
            let mut taint = json!({"key": key, "effect": dice.pick(&EFFECTS)});
            let value = dice.pick(&TAINT_VALUES);
            if !value.is_empty() {
                taint["value"] = value.into();
            }
            taints.push(taint);
        }
    }
    json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
        "spec": {"taints": taints},
    })
}

/// A key and one of the values that nodes have there, or nearly.
fn label(dice: &mut Dice<'_>) -> (&'static str, String) {
    if dice.percent(20) {
        let host = if dice.percent(15) { "host".to_owned() } else { format!("n{}", dice.below(8)) };
        return (HOSTNAME, host);
    }
    let (key, values) = dice.pick(&LABELS);
    (key, if dice.percent(8) { "other" } else { dice.pick(values) }.to_owned())
}

fn expression(dice: &mut Dice<'_>) -> Value {
    let (key, value) = label(dice);
    match dice.below(12) {
        0..5 => {
            let mut values = vec![value];
            while dice.percent(40) {
                values.push(label(dice).1);
            }
            json!({"key": key, "operator": "In", "values": values})
        }
        5..8 => json!({"key": key, "operator": "NotIn", "values": [value, label(dice).1]}),
        8 => json!({"key": key, "operator": "Exists"}),
        9 => json!({"key": key, "operator": "DoesNotExist"}),
        more => {
            let key = if dice.percent(80) { "gen" } else { key };
            let bound = dice.pick(&["0", "1", "2", "5", "10"]);
            json!({"key": key, "operator": if more == 10 { "Gt" } else { "Lt" }, "values": [bound]})
        }
    }
}

fn term(dice: &mut Dice<'_>) -> Value {
    let mut term = json!({});
    if dice.percent(5) {
        return term;
    }
    let names = dice.percent(25);
    if names {
        let operator = dice.pick(&["In", "NotIn"]);
        let fields = (0..1 + dice.below(2))
            .map(|_| json!({"key": "metadata.name", "operator": operator, "values": [format!("n{}", dice.below(8))]}));
        term["matchFields"] = fields.collect();
    }
    if !names || dice.percent(40) {
        term["matchExpressions"] = (0..1 + dice.below(3)).map(|_| expression(dice)).collect();
    }
    term
}

fn toleration(dice: &mut Dice<'_>) -> Value {
    let mut toleration = json!({});
    let every = dice.percent(12);
    if !every {
        toleration["key"] = dice.pick(&TAINTS).into();
    }
    if every || dice.percent(50) {
        toleration["operator"] = "Exists".into();
    } else {
        put(&mut toleration, "operator", 50, dice, |_| "Equal".into());
        put(&mut toleration, "value", 80, dice, |dice| dice.pick(&TAINT_VALUES).into());
    }
    if dice.percent(50) {
        toleration["effect"] = dice.pick(&EFFECTS).into();
    }
    toleration
}

/// Everything in a pod's spec that decides where it may go, but for resources.
pub(crate) fn spec(dice: &mut Dice<'_>) -> Value {
    let mut spec = json!({});
    if dice.percent(35) {
        let mut selector = json!({});
        for _ in 0..=dice.below(2) {
            let (key, value) = label(dice);
            selector[key] = value.into();
        }
        spec["nodeSelector"] = selector;
    }
    if dice.percent(55) {
        let terms: Vec<Value> = (0..1 + dice.below(3)).map(|_| term(dice)).collect();
        spec["affinity"] = json!({"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}});
    }
    if dice.percent(75) {
        spec["tolerations"] = (0..1 + dice.below(3)).map(|_| toleration(dice)).collect();
    }
    spec
}
