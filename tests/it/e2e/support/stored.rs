//! Stored pods, made comparable.

use serde_json::{Map, Value};

/// A pod without the values that the API server generates each time.
///
/// Volumes and mounts are sorted: the token volume is appended before us online and after us offline, and the lists
/// have no order that means anything.
pub(crate) fn comparable(pod: &Value) -> Value {
    let mut pod = exact(pod);
    sort(&mut pod["spec"]["volumes"]);
    for list in ["containers", "initContainers"] {
        for container in pod["spec"][list].as_array_mut().into_iter().flatten() {
            sort(&mut container["volumeMounts"]);
        }
    }
    pod
}

/// The same with every list in its order.
pub(crate) fn exact(pod: &Value) -> Value {
    let mut pod = pod.clone();
    for key in ["uid", "creationTimestamp", "managedFields", "namespace", "name"] {
        pod["metadata"].as_object_mut().map(|m| m.remove(key));
    }
    // The scheduling gate's condition carries the time.
    pod["status"].as_object_mut().map(|s| s.remove("conditions"));
    // A name for the token volume is made by chance.
    let names = pod["spec"]["volumes"].as_array().into_iter().flatten().filter_map(|v| v["name"].as_str());
    let token = names.filter(|n| n.starts_with("kube-api-access-")).map(str::to_owned).next();
    if let Some(token) = token {
        rename(&mut pod["spec"], &token);
    }
    pod
}

fn rename(value: &mut Value, token: &str) {
    match value {
        Value::String(text) if text == token => "kube-api-access".clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, token)),
        Value::Object(members) => members.values_mut().for_each(|member| rename(member, token)),
        _ => {}
    }
}

fn sort(list: &mut Value) {
    if let Some(list) = list.as_array_mut() {
        list.sort_by_key(Value::to_string);
    }
}

/// Where two pods differ, for people.
pub(crate) fn difference(expected: &Value, actual: &Value) -> Option<String> {
    let mut lines = Vec::new();
    differ("", expected, actual, &mut lines);
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn differ(at: &str, expected: &Value, actual: &Value, out: &mut Vec<String>) {
    let none = Map::new();
    match (expected, actual) {
        (Value::Object(_), Value::Object(_)) => {
            let (a, b) = (expected.as_object().unwrap_or(&none), actual.as_object().unwrap_or(&none));
            for key in a.keys().chain(b.keys().filter(|k| !a.contains_key(*k))) {
                differ(&format!("{at}/{key}"), &expected[key], &actual[key], out);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (nth, (a, b)) in a.iter().zip(b).enumerate() {
                differ(&format!("{at}/{nth}"), a, b, out);
            }
        }
        _ if expected != actual => out.push(format!("{at}: expected {expected}, found {actual}")),
        _ => {}
    }
}
