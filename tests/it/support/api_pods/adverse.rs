//! The adverse twin of a pod: it has already, for purposes of its own, what an engine added to the first: names of
//! volumes, paths, variables, annotations. It follows from two pods alone, whatever the engine adds.

use serde_json::{Map, Value, json};

/// The pod with some of the places taken that are new in `patched`.
pub(crate) fn twin(pod: &Value, patched: &Value, seed: u64) -> Value {
    let mut chance = Chance(seed);
    let mut twin = pod.clone();
    volumes(&mut twin, pod, patched, &mut chance);
    let count = pod["spec"]["containers"].as_array().map_or(0, Vec::len);
    for index in 0..count {
        container(&mut twin, index, pod, patched, &mut chance);
    }
    for key in added_keys(&pod["metadata"]["annotations"], &patched["metadata"]["annotations"]) {
        // Those that say what is to be done are not for the user to get wrong.
        if chance.one_in(4) {
            object(&mut twin["metadata"]["annotations"]).insert(key, "rail0".into());
        }
    }
    twin
}

/// A generator that is enough for coins.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

fn object(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = json!({});
    }
    value.as_object_mut().expect("an object")
}

fn push(value: &mut Value, item: Value) {
    match value.as_array_mut() {
        Some(list) => list.push(item),
        None => *value = json!([item]),
    }
}

fn added_keys(old: &Value, new: &Value) -> Vec<String> {
    let keys = new.as_object().into_iter().flat_map(Map::keys);
    keys.filter(|key| old.get(key.as_str()).is_none()).cloned().collect()
}

/// What a list of the second has and that of the first has not, by a member of its items.
fn added<'a>(old: &Value, new: &'a Value, member: &str) -> Vec<&'a str> {
    let has = |v: &&str| old.as_array().into_iter().flatten().any(|o| o[member] == **v);
    let new = new.as_array().into_iter().flatten().filter_map(|item| item[member].as_str());
    new.filter(|v| !has(v)).collect()
}

fn volumes(twin: &mut Value, pod: &Value, patched: &Value, chance: &mut Chance) {
    for name in added(&pod["spec"]["volumes"], &patched["spec"]["volumes"], "name") {
        let volume = match chance.below(5) {
            0 => json!({"name": name}),
            1 => json!({"name": name, "configMap": {"name": "own"}}),
            2 => json!({"name": name, "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}}),
            3 => json!({"name": name, "persistentVolumeClaim": {"claimName": "own"}}),
            _ => continue,
        };
        push(&mut twin["spec"]["volumes"], volume);
    }
}

fn container(twin: &mut Value, index: usize, pod: &Value, patched: &Value, chance: &mut Chance) {
    let (old, new) = (&pod["spec"]["containers"][index], &patched["spec"]["containers"][index]);
    for path in added(&old["volumeMounts"], &new["volumeMounts"], "mountPath") {
        // A file or a directory of the user's at the path, beside or around it; or a raw device.
        let parent =
            path.rsplit_once('/').map_or("/", |(parent, _)| if parent.is_empty() { "/" } else { parent });
        let (name, path) = match chance.below(8) {
            0 => ("own-file", path.to_owned()),
            1 => ("own-file", format!("{path}/")),
            2 => ("own-file", format!("/{path}")),
            3 => ("own-file", format!("{path}/below")),
            4 => ("own-file", parent.to_owned()),
            5 | 6 => ("own-block", path.to_owned()),
            _ => continue,
        };
        let spec = &mut twin["spec"];
        let there =
            |spec: &Value| spec["volumes"].as_array().into_iter().flatten().any(|v| v["name"] == name);
        let block = name == "own-block";
        let (list, key) = if block { ("volumeDevices", "devicePath") } else { ("volumeMounts", "mountPath") };
        let container = &spec["containers"][index];
        let taken = ["mountPath", "devicePath"].iter().any(|k| {
            let lists = [&container["volumeMounts"], &container["volumeDevices"]];
            lists.iter().filter_map(|l| l.as_array()).flatten().any(|m| m[*k] == path.as_str())
        });
        let again = block && !container["volumeDevices"].as_array().is_none_or(Vec::is_empty);
        if taken || again {
            continue;
        }
        if !there(spec) {
            let source = if block { json!({"claimName": "own"}) } else { Value::Null };
            let volume = if block {
                json!({"name": name, "persistentVolumeClaim": source})
            } else {
                json!({"name": name, "configMap": {"name": "own"}})
            };
            push(&mut spec["volumes"], volume);
        }
        push(&mut spec["containers"][index][list], json!({"name": name, key: path}));
    }
    for name in added(&old["env"], &new["env"], "name") {
        let variable = match chance.below(8) {
            0 => json!({"name": name}),
            1 => json!({"name": name, "value": "$(OWN)"}),
            2 => {
                json!({"name": name, "valueFrom": {"configMapKeyRef": {"name": "own", "key": "k", "optional": true}}})
            }
            _ => continue,
        };
        push(&mut twin["spec"]["containers"][index]["env"], variable);
    }
    for list in ["limits", "requests"] {
        for name in added_keys(&old["resources"][list], &new["resources"][list]) {
            if list == "limits" && chance.one_in(5) {
                let quantity = chance.below(3).to_string();
                let resources = object(&mut twin["spec"]["containers"][index]["resources"]);
                for list in ["limits", "requests"] {
                    object(resources.entry(list).or_insert(Value::Null))
                        .insert(name.clone(), quantity.clone().into());
                }
            }
        }
    }
}
