//! Pods whose containers, variables or mounts share one long text or list: shapes for [`super::beside_known_objects`]. What is shared is
//! read once, not once for each of them.

use super::beside_known_objects::{Object, Shape};
use serde_json::{Value, json};

pub(super) const SHAPES: [Shape; 11] = [
    ("containers with /etc/nccl.conf, and its empty lines", |n| {
        let file = ("fabric-admission.dev/file.nccl.conf", "\n".repeat(n * 20));
        let path = "metadata.annotations['fabric-admission.dev/file.nccl.conf']";
        let items = json!([{"path": "nccl.conf", "fieldRef": {"fieldPath": path}}]);
        let mut pod = annotated(file, containers(n / 3, reading_conf));
        pod["spec"]["volumes"] = json!([{"name": "v", "downwardAPI": {"items": items}}]);
        (pod, of_profile(json!({})))
    }),
    ("containers with /etc/nccl.conf, and mounts of preflight", |n| {
        (with_preflight(n / 2, json!(vec![json!({}); n * 8])), of_profile(json!({})))
    }),
    ("containers with /etc/nccl.conf, and slashes of a mount of preflight", |n| {
        let mounts = json!([{"mountPath": format!("a{}", "/".repeat(n * 80))}]);
        (with_preflight(n / 2, mounts), of_profile(json!({})))
    }),
    ("variables that point to files, and mounts", |n| {
        let mounts = vec![json!({"mountPath": "/a"}); n * 4];
        (pod(json!([target(json!({ "volumeMounts": mounts }))])), of_files(n / 8))
    }),
    ("variables that point to files, and a long mount path", |n| {
        let mounts = json!([{"mountPath": "/a".repeat(n * 40)}]);
        (pod(json!([target(json!({ "volumeMounts": mounts }))])), of_files(n / 8))
    }),
    ("variables for some versions, and a long image name", |n| {
        let variable = |i: usize| json!({"name": format!("NCCL_V{i}"), "value": "1", "ncclFrom": "2.20"});
        let env: Vec<Value> = (0..n / 8).map(variable).collect();
        let image = "nccl2.21.5".repeat(n * 8);
        (pod(json!([target(json!({ "image": image }))])), of_profile(json!({ "env": env })))
    }),
    ("variables from a resource, and digits of its quantity", |n| {
        let from = json!({"resourceFieldRef": {"resource": "limits.cpu"}});
        let limits = json!({"nvidia.com/gpu": "1", "cpu": format!("{}1", "0".repeat(n * 60))});
        let container = target(json!({"env": variables(n, &from), "resources": {"limits": limits}}));
        (pod(json!([container])), of_profile(json!({})))
    }),
    ("variables from an annotation, and its length", |n| {
        let from = json!({"fieldRef": {"fieldPath": "metadata.annotations['x']"}});
        let all = json!([target(json!({"env": variables(n, &from)}))]);
        (annotated(("x", "y".repeat(n * 200)), all), of_profile(json!({})))
    }),
    ("variables that profiles of the nodes require, and variables", |n| {
        let required = |i: usize| json!({"name": format!("NCCL_R{i}"), "value": "1", "policy": "require"});
        let env: Vec<Value> = (0..20).map(required).collect();
        let of = |i: usize| {
            let pool = json!({"pool": format!("p{i}")});
            let spec = json!({"base": "roce-sriov", "nodeSelector": {"matchLabels": pool}, "env": env});
            let node = json!({"metadata": {"name": format!("n{i}"), "labels": pool}, "status": {"allocatable": {"nvidia.com/gpu": "8"}}});
            [profile(&format!("p{i}"), spec), ("", "Node", "", node)]
        };
        let from = json!({"fieldRef": {"fieldPath": "status.podIP"}});
        let own = (0..20).map(|i| json!({"name": format!("NCCL_R{i}"), "valueFrom": from}));
        let env: Vec<Value> = own.chain(vec![json!({}); n * 10]).collect();
        let spec = json!({"tolerations": [{"operator": "Exists"}], "containers": [target(json!({ "env": env, "resources": {"limits": {"nvidia.com/gpu": "8"}} }))]});
        (json!({ "spec": spec }), (0..n / 8).flat_map(of).collect())
    }),
    ("volumes at /dev/shm, and digits of the memory limit of the pod", |n| {
        let mounting =
            |i: usize| json!({"volumeMounts": [{"name": format!("v{i}"), "mountPath": "/dev/shm"}]});
        let volume = |i: usize| json!({"name": format!("v{i}"), "emptyDir": {"medium": "Memory"}});
        let mut pod = pod(containers(n / 3, mounting));
        pod["spec"]["volumes"] = (0..n / 3).map(volume).collect();
        pod["spec"]["resources"] = json!({"limits": {"memory": format!("{}1", "0".repeat(n * 60))}});
        (pod, of_profile(json!({})))
    }),
    ("containers of one name, and the length of its ulimits", |n| {
        let limits = ("ulimits.nri.containerd.io/container.a", "x".repeat(n * 80));
        let all = containers(n / 3, |_| json!({"name": "a"}));
        (annotated(limits, all), of_profile(json!({"memlock": "nri"})))
    }),
];

/// A container with an accelerator and some fields.
fn target(with: Value) -> Value {
    let mut container = json!({"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "1"}}});
    if let (Some(all), Value::Object(with)) = (container.as_object_mut(), with) {
        all.extend(with);
    }
    container
}

fn containers(number: usize, with: fn(usize) -> Value) -> Value {
    let named = |i: usize| {
        let mut container = target(json!({ "name": format!("c{i}") }));
        if let (Some(all), Value::Object(with)) = (container.as_object_mut(), with(i)) {
            all.extend(with);
        }
        container
    };
    (0..number).map(named).collect()
}

fn reading_conf(_: usize) -> Value {
    json!({"volumeMounts": [{"name": "v", "mountPath": "/etc/nccl.conf", "subPath": "nccl.conf"}]})
}

/// A pod for the profile of these shapes.
fn pod(containers: Value) -> Value {
    json!({"metadata": {"annotations": {"fabric-admission.dev/profile": "q"}}, "spec": {"containers": containers}})
}

fn annotated((key, text): (&str, String), containers: Value) -> Value {
    let mut pod = pod(containers);
    pod["metadata"]["annotations"][key] = text.into();
    pod
}

/// A pod that brings a preflight container with mounts.
fn with_preflight(number: usize, mounts: Value) -> Value {
    let mut pod = pod(containers(number, reading_conf));
    let command = json!(["/fabric-admission/fabric-admission", "preflight"]);
    pod["spec"]["initContainers"] =
        json!([{"name": "fabric-preflight", "command": command, "volumeMounts": mounts}]);
    pod
}

fn variables(number: usize, from: &Value) -> Vec<Value> {
    vec![json!({"name": "NCCL_IB_HCA", "valueFrom": from}); number]
}

fn profile(name: &str, spec: Value) -> Object {
    let object = json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": {"name": name}, "spec": spec});
    ("fabric-admission.dev", "FabricProfile", "", object)
}

/// The profile of the pods, with some settings.
fn of_profile(mut settings: Value) -> Vec<Object> {
    settings["base"] = "roce-sriov".into();
    vec![profile("q", settings)]
}

/// The same with variables that point to its file.
fn of_files(variables: usize) -> Vec<Object> {
    let variable = |i: usize| json!({"name": format!("NCCL_V{i}"), "value": "/etc/fabric-admission/t.xml"});
    let env: Vec<Value> = (0..variables).map(variable).collect();
    of_profile(json!({"env": env, "files": [{"name": "t.xml", "content": "<x/>"}]}))
}
