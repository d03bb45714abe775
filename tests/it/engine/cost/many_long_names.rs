//! Names that are compared with many other names, and long names around many others: shapes for [`super::beside_known_objects`].

use super::beside_known_objects::{Object, Shape};
use super::workloads_and_updates::{runtime, train_job};
use serde_json::{Value, json};

pub(super) const SHAPES: [Shape; 4] = [
    ("templates that name no profile, and profiles with names of about that length", |n| {
        let templates = vec![named(&"z".repeat(60)); n / 2];
        let profiles = (0..n / 8).map(|i| profile(&format!("team-{i:04}-{}", "h100".repeat(12)), json!({})));
        (job_set(templates), profiles.collect())
    }),
    ("templates with labels that no node has, and the values that profiles select", |n| {
        let value = |i: usize| format!("{i:04}-pool-of-the-eastern-zone-rail-optimized-h100");
        let is = |values: Vec<String>| json!({"key": "pool", "operator": "In", "values": values});
        let wrong = (0..4).map(|i| is(vec![value(i).replace('o', "u")]));
        let terms: Vec<Value> = std::iter::once(is(vec![value(0)]))
            .chain(wrong)
            .map(|expression| json!({ "matchExpressions": [expression] }))
            .collect();
        let select = |i: usize| {
            let own = (0..(n / 4).min(200)).map(|k| format!("{i}{}", value(k)));
            let values = std::iter::once(value(0)).chain(own).collect();
            profile(&format!("p{i}"), json!({"nodeSelector": {"matchExpressions": [is(values)]}}))
        };
        let node = json!({"metadata": {"name": "n", "labels": {"pool": value(0)}}, "status": {"allocatable": {"nvidia.com/gpu": "8"}}});
        let mut pod = pod();
        pod["spec"]["affinity"] = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}});
        let known = (0..4).map(select).chain([("", "Node", "", node)]);
        (job_set(vec![pod; n / 8]), known.collect())
    }),
    ("words of a command, and the path of a mount with scripts", |n| {
        let mut pod = pod();
        let container = &mut pod["spec"]["containers"][0];
        container["args"] = json!(vec!["b"; (n / 13).min(64)]);
        container["volumeMounts"] = json!([{"name": "v", "mountPath": "/a".repeat(n * 600)}]);
        pod["spec"]["volumes"] = json!([{"name": "v", "configMap": {"name": "m"}}]);
        let map = json!({"metadata": {"name": "m", "namespace": "team"}, "data": {"run.sh": "export NCCL_DEBUG=INFO\n"}});
        (pod, vec![("", "ConfigMap", "team", map)])
    }),
    ("a long key in a patch of a TrainJob, and keys below it", |n| {
        let below: serde_json::Map<String, Value> = (0..n * 2).map(|i| (format!("k{i}"), 1.into())).collect();
        let patch = |below: Value| {
            json!({"manager": "example.com/m",
            "trainingRuntimeSpec": {"template": {"spec": {"x".repeat(n * 60): below}}}})
        };
        let patches = json!([patch(json!({})), patch(below.into())]);
        (train_job(json!({ "runtimePatches": patches })), vec![runtime(1, 0)])
    }),
];

fn pod() -> Value {
    json!({"spec": {"containers": [{"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "8"}}}]}})
}

/// A pod that names a profile.
fn named(profile: &str) -> Value {
    let mut pod = pod();
    pod["metadata"] = json!({"annotations": {"fabric-admission.dev/profile": profile}});
    pod
}

fn job_set(templates: Vec<Value>) -> Value {
    json!({"kind": "JobSet", "apiVersion": "jobset.x-k8s.io/v1", "spec": {"templates": templates}})
}

fn profile(name: &str, mut spec: Value) -> Object {
    spec["base"] = "roce-sriov".into();
    let object = json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": {"name": name}, "spec": spec});
    ("fabric-admission.dev", "FabricProfile", "", object)
}
