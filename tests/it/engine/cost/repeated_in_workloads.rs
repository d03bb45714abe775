//! What a workload repeats often, beside a long list or text that is known: shapes for [`super::beside_known_objects`].

use super::beside_known_objects::{Object, Shape, on};
use super::workloads_and_updates::{runtime, train_job};
use serde_json::{Map, Value, json};

pub(super) const SHAPES: [Shape; 8] = [
    ("patches of a TrainJob, and jobs of its runtime", |n| {
        (patched(n, &json!({ "replicatedJobs": [] })), vec![runtime(n / 2, 0)])
    }),
    ("patches of a TrainJob, and long names of variables of its runtime", |n| {
        let env: Vec<Value> = (0..n / 4).map(|i| json!({"name": format!("{i}{}", "X".repeat(n))})).collect();
        let container = json!({"name": "node", "env": [{"name": "A", "value": "1"}]});
        let patch =
            json!({"name": "j0", "template": {"spec": {"template": {"spec": {"containers": [container]}}}}});
        let (group, kind, namespace, mut object) = runtime(1, 0);
        let job = &mut object["spec"]["template"]["spec"]["replicatedJobs"][0];
        job["template"]["spec"]["template"]["spec"]["containers"][0]["env"] = env.into();
        let job = patched((n / 12).min(64), &json!({ "replicatedJobs": [patch] }));
        (job, vec![(group, kind, namespace, object)])
    }),
    ("templates with labels that nobody knows, and labels of profiles", |n| {
        let mut pod = pod();
        let labels: Map<String, Value> = (0..16).map(|i| (format!("k{i}"), "v".into())).collect();
        pod["spec"]["nodeSelector"] = labels.into();
        let select = |i: usize| {
            let labels: Map<_, _> =
                (0..8).map(|k| (format!("example.com/pool{k}-{i}"), "v".into())).collect();
            profile(&format!("p{i}"), json!({"nodeSelector": {"matchLabels": labels}}))
        };
        let known = (0..n / 8).map(select).chain([unlabelled_node()]);
        (job_set(vec![pod; n / 8]), known.collect())
    }),
    ("containers with the variables of a ConfigMap, and the length of their values", |n| {
        let from = json!([{"configMapRef": {"name": "m"}}]);
        let container = |i: usize| {
            json!({"name": format!("c{i}"), "image": "x", "envFrom": from,
                "resources": {"limits": {"nvidia.com/gpu": "1"}}})
        };
        let containers: Vec<Value> = (0..(n / 12).min(64)).map(container).collect();
        let data = json!({"NCCL_IB_HCA": "b,".repeat(n * 20), "UCX_TLS": "b,".repeat(n * 20)});
        (json!({"spec": {"containers": containers}}), vec![config_map(data)])
    }),
    ("templates that run a script of a ConfigMap, and its length", |n| {
        let mut pod = pod();
        let container = &mut pod["spec"]["containers"][0];
        container["args"] = json!(["/s/run.sh"]);
        container["volumeMounts"] = json!([{"name": "v", "mountPath": "/s"}]);
        pod["spec"]["volumes"] = json!([{"name": "v", "configMap": {"name": "m"}}]);
        let lines = "export NCCL_DEBUG=INFO\n".repeat(n * 3);
        (job_set(vec![pod; n / 4]), vec![config_map(json!({ "run.sh": lines }))])
    }),
    ("resources of profiles, and values of the pod's affinity", |n| {
        let number = (n / 13).min(60);
        let mut pod = pod();
        let resources = (0..number).map(|i| (format!("example.com/r{i}"), Value::from("1")));
        let own = resources.chain([("nvidia.com/gpu".to_owned(), "8".into())]).collect::<Map<_, _>>();
        pod["spec"]["containers"][0]["resources"]["limits"] = own.into();
        let values: Vec<String> = (0..n * 5).map(|i| format!("{i:x}")).collect();
        let is = json!({"key": "pool", "operator": "In", "values": values});
        pod["spec"]["affinity"] = on(json!([{ "matchExpressions": [is] }]))["spec"]["affinity"].take();
        let with = |i: usize| {
            let rails = json!([{"network": "default/n", "resource": format!("example.com/r{i}")}]);
            let labels = json!({"matchLabels": {"pool": format!("v{i}")}});
            profile(&format!("p{i}"), json!({"nodeSelector": labels, "rails": rails}))
        };
        (pod, (0..number).map(with).chain([unlabelled_node()]).collect())
    }),
    ("terms of a pod's affinity, and labels of profiles", |n| {
        let is = json!({"key": "zz", "operator": "In", "values": ["none"]});
        let terms = vec![json!({ "matchExpressions": [is] }); (n / 12).min(64)];
        let with = |i: usize| {
            let labels = (0..(n / 13).min(60)).map(|k| format!("a{k}")).chain(["zz".to_owned()]);
            let labels: Map<_, _> = labels.map(|key| (key, Value::from(format!("v{i}")))).collect();
            profile(&format!("p{i}"), json!({"nodeSelector": {"matchLabels": labels}}))
        };
        (on(terms.into()), (0..50).map(with).chain([unlabelled_node()]).collect())
    }),
    ("templates with rules to ignore that do not exist, and their number", |n| {
        let mut pod = pod();
        let keys = (0..32).map(|i| (format!("fabric-admission.dev/ignore.F{i:03}"), Value::from("")));
        pod["metadata"]["annotations"] = keys.take((n / 25).max(1)).collect::<Map<_, _>>().into();
        (job_set(vec![pod; n / 8]), vec![])
    }),
];

fn pod() -> Value {
    json!({"spec": {"containers": [{"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "8"}}}]}})
}

fn job_set(templates: Vec<Value>) -> Value {
    json!({"kind": "JobSet", "apiVersion": "jobset.x-k8s.io/v1", "spec": {"templates": templates}})
}

/// A TrainJob with one patch so many times.
fn patched(times: usize, patch: &Value) -> Value {
    let patch = json!({"manager": "example.com/m", "trainingRuntimeSpec": {"template": {"spec": patch}}});
    train_job(json!({ "runtimePatches": vec![patch; times] }))
}

fn config_map(data: Value) -> Object {
    ("", "ConfigMap", "team", json!({"metadata": {"name": "m", "namespace": "team"}, "data": data}))
}

fn unlabelled_node() -> Object {
    let object =
        json!({"metadata": {"name": "n", "labels": {"zzz": "1"}}, "status": {"allocatable": {"cpu": "1"}}});
    ("", "Node", "", object)
}

fn profile(name: &str, mut spec: Value) -> Object {
    spec["base"] = "roce-sriov".into();
    let object = json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": {"name": name}, "spec": spec});
    ("fabric-admission.dev", "FabricProfile", "", object)
}
