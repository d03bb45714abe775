//! JSON in text fields of the operators' objects is read once for each object, not by each rule: the allocations of a decision
//! are compared with those of reading each such text once. Unlike time, they are the same on every machine.

use super::costly_products::{body, entry, once, snapshot};
use crate::support::suite::Outcome;
use serde_json::{Value, json};

/// Entries of each text.
const ENTRIES: usize = 1_000;

/// How many times the allocations of reading the texts once a decision may have: the rules are one reading, and the facts
/// of the object are another, with its plugins in a type of their own.
const MOST: f64 = 6.0;

/// Group, kind, and how it is made.
type Shape = (&'static str, &'static str, fn() -> Value);

const SHAPES: [Shape; 3] = [
    ("sriovnetwork.openshift.io", "SriovIBNetwork", || network("whereabouts")),
    ("mellanox.com", "MacvlanNetwork", || network("nv-ipam")),
    (
        "mellanox.com",
        "NicClusterPolicy",
        || json!({"spec": {"rdmaSharedDevicePlugin": {"config": shared()}, "sriovDevicePlugin": {"config": sriov()}}}),
    ),
];

fn network(ipam: &str) -> Value {
    let plugins = vec![r#"{"type":"tuning","sysctl":{"a":"b"}}"#; ENTRIES].join(",");
    let ipam = json!({"type": ipam, "poolName": "x", "a": vec![json!({"b": 1}); ENTRIES]}).to_string();
    json!({"spec": {"resourceName": "x", "networkNamespace": "team", "ipam": ipam, "metaPlugins": plugins}})
}

fn shared() -> String {
    let entry = |i: usize| json!({"resourceName": format!("a{i}"), "rdmaHcaMax": 1, "selectors": {"ifNames": [format!("e{i}")]}});
    json!({"configList": (0..ENTRIES).map(entry).collect::<Vec<_>>()}).to_string()
}

fn sriov() -> String {
    let entry =
        |i: usize| json!({"resourceName": format!("a{i}"), "selectors": [{"pfNames": [format!("e{i}")]}]});
    json!({"resourceList": (0..ENTRIES).map(entry).collect::<Vec<_>>()}).to_string()
}

pub(super) fn read_once() -> Outcome {
    let snapshot = snapshot()?;
    let mut wrong = Vec::new();
    for (group, kind, make) in SHAPES {
        let (object, entry) = (make(), entry(group, kind));
        let body = body(group, kind, object.clone());
        // What is made once in a process is made now.
        once(&body, entry, &snapshot);
        let decided = allocation_counter::measure(|| {
            once(&body, entry, &snapshot);
        });
        let read = allocation_counter::measure(|| read(&object));
        let times = decided.count_total as f64 / read.count_total as f64;
        let line = format!("{times:5.1} times: {} for {}: {kind}", decided.count_total, read.count_total);
        eprintln!("{line}");
        if times > MOST {
            wrong.push(line);
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// Reads the JSON in the texts of an object.
fn read(value: &Value) {
    match value {
        Value::Object(map) => map.values().for_each(read),
        Value::String(text) if text.starts_with('{') => {
            drop(serde_json::from_str::<Vec<Value>>(&format!("[{text}]")));
        }
        _ => {}
    }
}
