//! Conditions on nodes that are longer than what is read: they must not lead past the profiles of the nodes.

use crate::support::generated_world::World;
use crate::support::suite::Suite;
use serde_json::{Value, json};

pub(crate) fn add(suite: &mut Suite) {
    suite.add("long_node_conditions::lead_past_no_profile_of_the_nodes", || Ok(lists()?));
    suite.add("long_node_conditions::what_is_read_still_counts", || Ok(beside()?));
}

/// More values than are read, the API server's limit of an object notwithstanding.
const MANY: usize = 5_000;

fn pod(spec: Value) -> Value {
    let mut pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{
        "name": "t", "image": "i", "env": [{"name": "NCCL_ALGO", "value": "Ring"}],
        "resources": {"limits": {"nvidia.com/gpu": 8}}}]}});
    if let Some(spec) = spec.as_object() {
        for (key, value) in spec {
            pod["spec"][key] = value.clone();
        }
    }
    pod
}

fn affinity(expressions: Value) -> Value {
    json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": expressions}]}}}})
}

fn world(pod: Value) -> World {
    World::new(&json!({
        "pod": pod,
        "profiles": [{"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": {"name": "strict"},
            "spec": {"transport": "ethernet", "attachment": "none", "nodeSelector": {"matchLabels": {"pool": "strict"}},
                "env": [{"name": "NCCL_ALGO", "policy": "forbid"}]}}],
        "objects": [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": {"pool": "strict"}},
            "spec": {"taints": [{"key": "pool", "value": "strict", "effect": "NoSchedule"}]},
            "status": {"allocatable": {"nvidia.com/gpu": "8"}}}],
    }))
}

fn lists() -> Result<(), String> {
    let values: Vec<String> = (0..MANY).map(|n| format!("v{n}")).chain(["strict".to_owned()]).collect();
    let expressions: Vec<Value> =
        (0..MANY).map(|n| json!({"key": format!("k{n}"), "operator": "DoesNotExist"})).collect();
    let taint = json!({"key": "pool", "operator": "Equal", "value": "strict", "effect": "NoSchedule"});
    let tolerations: Vec<Value> = (0..MANY)
        .map(|n| json!({"key": format!("k{n}"), "operator": "Exists"}))
        .chain([taint.clone()])
        .collect();
    let tolerating = |mut spec: Value| {
        spec["tolerations"] = json!([taint]);
        spec
    };
    for (what, spec) in [
        ("values", tolerating(affinity(json!([{"key": "pool", "operator": "In", "values": values}])))),
        ("expressions", tolerating(affinity(json!(expressions)))),
        ("tolerations", json!({"tolerations": tolerations})),
    ] {
        let decision = world(pod(spec)).decide().ok_or("the pod cannot be read")?;
        let rules: Vec<&str> = decision.findings.iter().map(|f| f.rule).collect();
        if decision.profile.as_deref() != Some("strict") || !rules.contains(&"FAB403") {
            return Err(format!("{what}: profile {:?}, {rules:?}", decision.profile));
        }
    }
    Ok(())
}

/// What is read still counts.
fn beside() -> Result<(), String> {
    let tolerations: Vec<Value> =
        (0..MANY).map(|n| json!({"key": format!("k{n}"), "operator": "Exists"})).collect();
    let spec = json!({"nodeSelector": {"pool": "other"}, "tolerations": tolerations});
    match world(pod(spec)).decide().ok_or("the pod cannot be read")?.profile {
        None => Ok(()),
        other => Err(format!("{other:?}")),
    }
}
