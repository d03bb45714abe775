//! Reviews of pods by size. The same arguments give the same bytes.

use crate::scene::{pod, review};
use serde_json::{Value, json};

/// The sizes by name: containers, variables per container, and bytes of the body. `7.5k` is the pod of the other benches.
const SIZES: [(&str, usize, usize, usize); 5] = [
    ("4k", 1, 8, 4_000),
    ("7.5k", 1, 40, 7_500),
    ("25k", 3, 60, 25_000),
    ("196k", 8, 200, 196_000),
    ("2.9M", 50, 200, 2_900_000),
];

/// The name and the body of a payload.
pub(crate) struct Payload {
    pub(crate) name: String,
    pub(crate) body: Vec<u8>,
}

impl Payload {
    /// A size of the table.
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        let size = SIZES.iter().find(|size| size.0 == name);
        let (_, containers, variables, bytes) =
            size.ok_or_else(|| format!("{name} is not one of {}", SIZES.map(|size| size.0).join(", ")))?;
        let smallest = body(*containers, *variables, 0).len();
        let value = bytes.saturating_sub(smallest) / (containers * variables);
        Ok(Self { name: name.to_owned(), body: body(*containers, *variables, value) })
    }

    /// So many containers, with so many variables each.
    pub(crate) fn of(containers: usize, variables: usize) -> Self {
        let name = format!("{containers} x {variables}");
        Self { name, body: body(containers, variables, 16) }
    }
}

/// A pod whose first container has eight accelerators.
fn body(containers: usize, variables: usize, value: usize) -> Vec<u8> {
    let mut pod = pod(8, true);
    pod["spec"]["nodeSelector"] = json!({"node.kubernetes.io/instance-type": "bm.gpu.h100.8"});
    pod["spec"]["tolerations"]
        .as_array_mut()
        .unwrap()
        .push(json!({"key": "nvidia.com/gpu", "operator": "Exists"}));
    let name = |i: usize| format!("SETTING_{i}");
    let env: Vec<Value> =
        (0..variables).map(|i| json!({"name": name(i), "value": "x".repeat(value)})).collect();
    let mut managed = containers_of(&mut pod)["k:{\"name\":\"trainer\"}"].take();
    managed["f:env"] = (0..variables)
        .map(|i| (format!("k:{{\"name\":\"{}\"}}", name(i)), json!({".": {}, "f:name": {}, "f:value": {}})))
        .collect::<serde_json::Map<_, _>>()
        .into();
    *containers_of(&mut pod) = json!({});
    let mut container = pod["spec"]["containers"][0].take();
    container["env"] = env.into();
    let mut list = Vec::new();
    for i in 0..containers.max(1) {
        let mut one = container.clone();
        if i > 0 {
            one["name"] = format!("sidecar-{i}").into();
            for kind in ["limits", "requests"] {
                one["resources"][kind] = json!({"cpu": "1", "memory": "1Gi"});
            }
        }
        containers_of(&mut pod)[format!("k:{{\"name\":{}}}", one["name"])] = managed.clone();
        list.push(one);
    }
    pod["spec"]["containers"] = list.into();
    review(&pod)
}

/// The containers in the pod's managed fields.
fn containers_of(pod: &mut Value) -> &mut Value {
    &mut pod["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:containers"]
}
