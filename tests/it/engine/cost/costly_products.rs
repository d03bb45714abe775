//! Objects that were made up to be costly, each by hand: what one part of them costs must not be multiplied by another.

use super::{TIMES, compare, now, verdict};
use crate::support::suite::Outcome;
use fabric_admission::decision_limits::DecisionLimits;
use fabric_admission::facts::EnforcementMode;
use fabric_admission::review::admission_response;
use fabric_admission::review::decide_webhook_request::{
    SnapshotForAudience, WebhookEntry, decide_body_within_deadline,
};
use fabric_admission::snapshot::{Audience, Builder, Layer, Snapshot};
use serde_json::{Value, json};
use std::time::Duration;

/// In proportion it is 8, and 64 where the cost is the product of two parts.
const MOST: f64 = 24.0;
const FLOOR: Duration = Duration::from_millis(2);

/// An object of a size: group, kind, what its size stands for, and how it is made.
type Shape = (&'static str, &'static str, &'static str, fn(usize) -> Value);

pub(super) const SHAPES: [Shape; 17] = [
    ("", "Pod", "here-documents of a line", |n| {
        json!({"spec": {"containers": [{"name": "a", "image": "x", "command": ["bash", "-c", format!("export NCCL_DEBUG=INFO\n{}", "<<a".repeat(n * 40))],
            "resources": {"limits": {"nvidia.com/gpu": 8}}}]}})
    }),
    ("kubeflow.org", "PyTorchJob", "lines of the first rank, and replica types", |n| {
        let pod = |args: Value| {
            json!({"template": {"metadata": {"annotations": {"fabric-admission.dev/profile": "p"}}, "spec": {"containers": [
                {"name": "pytorch", "image": "x", "args": args, "resources": {"limits": {"nvidia.com/gpu": 8}}}]}}})
        };
        let mut types = serde_json::Map::new();
        types.insert("Master".to_owned(), pod(json!(["#\n".repeat(n * 50)])));
        types.extend((0..n / 4).map(|i| (format!("Worker{i}"), pod(json!(["a"])))));
        json!({"spec": {"pytorchReplicaSpecs": types}})
    }),
    ("kubeflow.org", "PyTorchJob", "variables of the first rank, and replica types", |n| {
        let pod = |env: Value| {
            json!({"template": {"metadata": {"annotations": {"fabric-admission.dev/profile": "p"}}, "spec": {"containers": [
                {"name": "pytorch", "image": "x", "env": env, "resources": {"limits": {"nvidia.com/gpu": 8}}}]}}})
        };
        let variable = |i: usize| json!({"name": format!("A{i}"), "value": ""});
        let mut types = serde_json::Map::new();
        types.insert("Master".to_owned(), pod((0..n * 10).map(variable).collect()));
        types.extend((0..n / 4).map(|i| (format!("Worker{i}"), pod(json!([])))));
        json!({"spec": {"pytorchReplicaSpecs": types}})
    }),
    ("", "Pod", "containers, and lines of /etc/nccl.conf", |n| {
        with_conf(n / 4, "NCCL_A=\n".repeat(n * 20), 0)
    }),
    ("", "Pod", "containers with /etc/nccl.conf, and annotations", |n| {
        with_conf(n / 4, String::new(), n * 20)
    }),
    ("", "Pod", "containers, and slashes of a path on the node", |n| {
        let container = |i: usize| {
            json!({"name": format!("c{i}"), "image": "x", "resources": {"limits": {"nvidia.com/gpu": 1}},
                "env": [{"name": "NCCL_IB_HCA", "value": "mlx5"}, {"name": "NCCL_IB_TC", "value": "1"}]})
        };
        let path = format!("a{}", "/".repeat(n * 100));
        json!({"spec": {"containers": (0..(n / 13).max(1)).map(container).collect::<Vec<_>>(),
            "volumes": [{"name": "v", "hostPath": {"path": path}}]}})
    }),
    ("kubeflow.org", "PyTorchJob", "blanks of a value of the first rank, and replica types", |n| {
        let pod = |value: String| {
            json!({"template": {"metadata": {"annotations": {"fabric-admission.dev/profile": "p"}}, "spec": {"containers": [
                {"name": "pytorch", "image": "x", "env": [{"name": "NCCL_PROTO", "value": value}],
                 "resources": {"limits": {"nvidia.com/gpu": 8}}}]}}})
        };
        let mut types = serde_json::Map::new();
        types.insert("Master".to_owned(), pod(" ".repeat(n * 200)));
        types.extend((0..n / 4).map(|i| (format!("Worker{i}"), pod(" ".to_owned()))));
        json!({"spec": {"pytorchReplicaSpecs": types}})
    }),
    ("serving.kserve.io", "LLMInferenceService", "pod specs, and keys of the annotation", |n| {
        let keys: String = (0..n * 4).map(|i| format!(",\"{i}\":0")).collect();
        json!({"metadata": {"annotations": {"k8s.v1.cni.cncf.io/networks": format!("[{{\"name\":\"a\"{keys}}}]")}},
               "spec": {"x": vec![json!({"worker": {"containers": [{"name": "a"}]}}); n]}})
    }),
    (
        "example.com",
        "Any",
        "a name, and templates below it",
        |n| json!({"spec": {"name": "x".repeat(n * 400), "y": vec![json!({"spec": {"containers": [{"image": "x"}]}}); n]}}),
    ),
    (
        "example.com",
        "Any",
        "a key, and templates below it",
        |n| json!({"spec": {"x".repeat(n * 400): vec![json!({"spec": {"containers": [{"image": "x"}]}}); n]}}),
    ),
    ("mellanox.com", "NicClusterPolicy", "selectors of two resources", |n| {
        let first: Vec<Value> = (0..n * 6).map(|i| json!({"pfNames": [format!("a{i}")]})).collect();
        let second = vec![json!({"pfNames": [format!("a{}", n * 6 - 1)]}); n * 6];
        let resources =
            json!([{"resourceName": "a", "selectors": first}, {"resourceName": "b", "selectors": second}]);
        json!({"spec": {"sriovDevicePlugin": {"config": json!({"resourceList": resources}).to_string()}}})
    }),
    ("jobset.x-k8s.io", "JobSet", "names near those of NCCL, and templates", |n| {
        let letters: Vec<char> = "THREAD_THRESHOLDS".chars().collect();
        let name = |i: usize| -> String {
            (0..letters.len()).map(|at| letters[(at * 5 + i * 3) % letters.len()]).collect()
        };
        let env: Vec<Value> =
            (0..40).map(|i| json!({"name": format!("NCCL_{}", name(i)), "value": "1"})).collect();
        let template = json!({"spec": {"template": {"spec": {"containers": [{"name": "a", "image": "x", "env": env,
            "resources": {"limits": {"nvidia.com/gpu": 8}}}]}}}});
        let jobs: Vec<Value> =
            (0..n / 4 + 1).map(|i| json!({"name": format!("j{i}"), "template": template})).collect();
        json!({"spec": {"replicatedJobs": jobs}})
    }),
    ("k8s.cni.cncf.io", "NetworkAttachmentDefinition", "wrong values of a sysctl, and keys beside it", |n| {
        let sysctl: serde_json::Map<String, Value> =
            (0..60.min(n)).map(|i| (format!("s{i}"), i.into())).collect();
        let mut config = json!({"cniVersion": "1.0.0", "name": "x", "type": "tuning", "sysctl": sysctl});
        (0..n * 20).for_each(|i| config[format!("k{i}")] = 1.into());
        json!({"spec": {"config": config.to_string()}})
    }),
    ("jobset.x-k8s.io", "JobSet", "unknown names of variables, and templates", |n| {
        let template = |i: usize| {
            let env: Vec<Value> =
                (0..n.min(60)).map(|v| json!({"name": format!("NCCL_XQZ{i}_{v}"), "value": "1"})).collect();
            json!({"spec": {"template": {"spec": {"containers": [{"name": "a", "image": "x", "env": env,
                "resources": {"limits": {"nvidia.com/gpu": 8}}}]}}}})
        };
        let jobs: Vec<Value> = (0..(n / 4 + 1).min(250))
            .map(|i| json!({"name": format!("j{i}"), "template": template(i)}))
            .collect();
        json!({"spec": {"replicatedJobs": jobs}})
    }),
    ("", "Pod", "words of a command", |n| of_command(&"a ".repeat(n * 150))),
    ("", "Pod", "variables of a command", |n| of_command(&"A= ".repeat(n * 100))),
    ("", "Pod", "variables of NCCL in commands", |n| of_command(&"NCCL_A=1;".repeat(n * 33))),
];

/// A pod that runs a script, which sets a variable of NCCL first.
fn of_command(script: &str) -> Value {
    json!({"spec": {"containers": [{"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/gpu": 1}},
        "command": ["sh", "-c", format!("NCCL_Z=1;{script}")]}]}})
}

/// A pod whose containers have `/etc/nccl.conf`.
fn with_conf(containers: usize, conf: String, annotations: usize) -> Value {
    let key = "fabric-admission.dev/file.nccl.conf";
    let mut all: serde_json::Map<String, Value> =
        (0..annotations).map(|i| (format!("example.com/{i}"), "".into())).collect();
    all.insert("fabric-admission.dev/profile".to_owned(), "p".into());
    all.insert(key.to_owned(), conf.into());
    let container = |i: usize| {
        json!({"name": format!("c{i}"), "image": "x", "env": [{"name": "NCCL_DEBUG", "value": "INFO"}],
            "resources": {"limits": {"nvidia.com/gpu": 1}},
            "volumeMounts": [{"name": "v", "mountPath": "/etc/nccl.conf", "subPath": "nccl.conf"}]})
    };
    let items =
        json!([{"path": "nccl.conf", "fieldRef": {"fieldPath": format!("metadata.annotations['{key}']")}}]);
    json!({"metadata": {"annotations": all}, "spec": {
        "containers": (0..containers).map(container).collect::<Vec<_>>(),
        "volumes": [{"name": "v", "downwardAPI": {"items": items}}]}})
}

pub(super) fn proportionate() -> Outcome {
    let snapshot = snapshot()?;
    let taken: Vec<_> = SHAPES
        .into_iter()
        .map(|(group, kind, what, make)| {
            let entry = entry(group, kind);
            let inputs = [1, 100, 100 * TIMES].map(|n| body(group, kind, make(n)));
            compare(format!("{kind}: {what}"), inputs, FLOOR, |input, times| {
                (0..times).map(|_| once(input, entry, &snapshot)).min().unwrap_or_default()
            })
        })
        .collect();
    verdict("crafted", &taken, SHAPES.len(), MOST)
}

/// The entry that decides on objects of a kind.
pub(super) fn entry(group: &str, kind: &str) -> WebhookEntry {
    match (group, kind) {
        ("", "Pod") => WebhookEntry::Validate,
        (
            "mellanox.com"
            | "nv-ipam.nvidia.com"
            | "k8s.cni.cncf.io"
            | "sriovnetwork.openshift.io"
            | "fabric-admission.dev",
            _,
        ) => WebhookEntry::Object(EnforcementMode::Enforce),
        _ => WebhookEntry::Workload(EnforcementMode::Enforce),
    }
}

/// What is known: a profile.
pub(super) fn snapshot() -> Result<Snapshot, Box<dyn std::error::Error>> {
    let mut builder = Builder::new(crate::support::generated_world::bases().to_vec());
    let profile = json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": {"name": "p"}, "spec": {"base": "roce-sriov"}});
    builder.add(Layer::Live, "fabric-admission.dev", "FabricProfile", &profile.to_string(), "")?;
    Ok(builder.build())
}

/// The body of a request to create an object.
pub(super) fn body(group: &str, kind: &str, object: Value) -> Vec<u8> {
    review(group, kind, object, None)
}

/// The body of a request to update an object, whose spec differs before.
pub(super) fn update(group: &str, kind: &str, object: Value) -> Vec<u8> {
    let mut old = object.clone();
    old["spec"]["another"] = true.into();
    review(group, kind, object, Some(old))
}

fn review(group: &str, kind: &str, object: Value, old: Option<Value>) -> Vec<u8> {
    let named = |mut object: Value| {
        object["kind"] = kind.into();
        object["apiVersion"] = format!("{group}/v1").into();
        object["metadata"]["name"] = "o".into();
        object
    };
    let namespace =
        object.pointer("/metadata/namespace").and_then(Value::as_str).unwrap_or("team").to_owned();
    let operation = if old.is_some() { "UPDATE" } else { "CREATE" };
    let request = json!({"uid": "u", "kind": {"group": group, "version": "v1", "kind": kind}, "namespace": namespace,
        "operation": operation, "object": named(object), "oldObject": old.map(named)});
    json!({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request})
        .to_string()
        .into_bytes()
}

pub(super) fn once(input: &[u8], entry: WebhookEntry, snapshot: &Snapshot) -> Duration {
    once_for(input, entry, SnapshotForAudience { snapshot, audience: Audience::Anyone })
}

pub(super) fn once_for(input: &[u8], entry: WebhookEntry, known: SnapshotForAudience<'_>) -> Duration {
    let started = now();
    if let Ok(answer) = decide_body_within_deadline(input, entry, known, &DecisionLimits::without_clock()) {
        drop(admission_response::render(&answer));
    }
    now() - started
}
