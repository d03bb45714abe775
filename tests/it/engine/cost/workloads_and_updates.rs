//! Workloads, network objects and their updates beside known objects: shapes for [`super::beside_known_objects`]. An object with the key
//! `update` stands for an update of it.

use super::beside_known_objects::{Object, Shape};
use serde_json::{Map, Value, json};

pub(super) const SHAPES: [Shape; 14] = [
    ("UPDATE: a name of a list element, and findings below it", |n| {
        let templates = vec![json!({"template": bad(50)}); n / 10 + 1];
        let parts = json!([{"name": "n".repeat(n * 150), "parts": templates}]);
        (updated(job_set(json!({ "parts": parts }))), vec![])
    }),
    ("UPDATE: a long text of a list, and findings in it", |n| {
        let lines: String = (0..n / 13).map(|i| format!("export NCCL_X{i}=1\n")).collect();
        let container = json!({"name": "c", "image": "x", "command": ["bash", "-c"],
            "args": [lines + "#" + &"x".repeat(n * 400)], "resources": {"limits": {"nvidia.com/gpu": 8}}});
        (updated(job_set(jobs(&json!({"spec": {"containers": [container]}}), 1))), vec![])
    }),
    ("long keys, and findings below them", |n| {
        let templates = Value::from(vec![bad(50); n / 4]);
        let spec = (0..13).fold(templates, |below, _| json!({"k".repeat((n / 3).min(250)): below}));
        (job_set(json!({ "below": spec })), vec![])
    }),
    ("templates, and kinds of nodes with RDMA", |n| {
        let pod =
            json!({"spec": {"containers": [{"image": "x", "resources": {"limits": {"nvidia.com/gpu": 8}}}]}});
        let node = |i: usize| {
            let mut amounts: Map<_, _> =
                (0..8).map(|name| (format!("rdma/shared{name}"), "63".into())).collect();
            amounts.extend([("nvidia.com/gpu".to_owned(), "8".into()), ("cpu".to_owned(), "64".into())]);
            let object = json!({"metadata": {"name": format!("n{i}"), "labels": {"rack": format!("r{i}")}},
                "status": {"allocatable": amounts}});
            ("", "Node", "", object)
        };
        (job_set(jobs(&pod, n / 4)), (0..n).map(node).collect())
    }),
    ("templates, and variables of the profiles of their nodes", |n| {
        let pod = json!({"spec": {"containers": [{"image": "x", "env": [{"name": "NCCL_S0", "value": "1"}],
            "resources": {"limits": {"nvidia.com/gpu": 8}}}]}});
        (job_set(jobs(&pod, n / 8)), (0..n / 8).flat_map(strict).collect())
    }),
    ("templates, and keys of a ConfigMap without values", |n| {
        let pod = json!({"spec": {"containers": [{"image": "x", "envFrom": [{"configMapRef": {"name": "m"}}],
            "resources": {"limits": {"nvidia.com/gpu": 8}}}]}});
        let data: Map<_, _> = (0..n * 8).map(|i| (format!("NCCL_X{i}"), "".into())).collect();
        let map = json!({"metadata": {"name": "m", "namespace": "team"}, "data": data});
        (job_set(jobs(&pod, n / 4)), vec![("", "ConfigMap", "team", map)])
    }),
    ("templates with an unknown subset, and subsets of their profile", |n| {
        let subset = |i: usize| json!({"name": format!("{}{i:02}", "s".repeat(50)), "interfaces": ["rail0"]});
        let spec =
            json!({"base": "roce-sriov", "subsets": (0..(n / 8).min(64)).map(subset).collect::<Vec<_>>()});
        let annotations =
            json!({"fabric-admission.dev/profile": "v", "fabric-admission.dev/rails": "t".repeat(50)});
        let container = json!({"image": "x", "resources": {"limits": {"nvidia.com/gpu": 8}}});
        let pod = json!({"metadata": {"annotations": annotations}, "spec": {"containers": [container]}});
        let profile = json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": {"name": "v"}, "spec": spec});
        (job_set(jobs(&pod, n / 4)), vec![("fabric-admission.dev", "FabricProfile", "", profile)])
    }),
    ("jobs with containers, and variables of their profile", |n| {
        (job_set(jobs(&profiled(100), n / 20)), vec![with_variables()])
    }),
    ("a TrainJob, and containers of its runtime that have a profile", |n| {
        let (group, kind, namespace, mut object) = runtime(4, 0);
        for job in object["spec"]["template"]["spec"]["replicatedJobs"].as_array_mut().into_iter().flatten() {
            job["template"]["spec"]["template"] = profiled(n / 4);
        }
        (train_job(json!({})), vec![(group, kind, namespace, object), with_variables()])
    }),
    ("targets of an override, and jobs of the runtime", |n| {
        let over = json!([{"targetJobs": vec![json!({"name": "x"}); n * 12]}]);
        (train_job(json!({ "podSpecOverrides": over })), vec![runtime((n / 13).min(16), 0)])
    }),
    ("variables of a TrainJob, and jobs of its runtime", |n| {
        let env: Vec<Value> = (0..(n / 22).min(36))
            .map(|i| json!({"name": format!("NCCL_THREAD_THRESHOLD{i}"), "value": "1"}))
            .collect();
        (train_job(json!({"trainer": {"env": env}})), vec![runtime((n / 13).min(16), 0)])
    }),
    ("variables of a TrainJob, and those of its runtime", |n| {
        let env = |name: &str| -> Vec<Value> {
            (0..n / 2).map(|i| json!({"name": format!("{name}{i}"), "value": "1"})).collect()
        };
        (train_job(json!({"trainer": {"env": env("NCCL_X")}})), vec![runtime(1, n / 2)])
    }),
    ("NICs of a policy, and other policies", |n| {
        let config = json!({"metadata": {"name": "default", "namespace": OPERATOR}, "spec": {"enableOperatorWebhook": false}});
        let other = |i: usize| policy(&format!("p{i}"), (0..50).map(|k| format!("enp{i}s{k}")).collect(), 16);
        let mut objects: Vec<Object> = (0..n / 16)
            .map(|i| ("sriovnetwork.openshift.io", "SriovNetworkNodePolicy", OPERATOR, other(i)))
            .collect();
        objects.push(("sriovnetwork.openshift.io", "SriovOperatorConfig", OPERATOR, config));
        (policy("me", vec!["e#0-9".to_owned(); n], 8), objects)
    }),
    ("objects with a kind around each other, and empty objects in them", |n| {
        let pod = json!({"spec": {"containers": [{"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/gpu": 8}}}]}});
        let within = |inner: Value| json!({"kind": "JobSet", "apiVersion": "jobset.x-k8s.io/v1", "metadata": {"name": "a"}, "pod": pod, "in": inner});
        let inner = json!({"text": vec![json!({}); n * 30]});
        (job_set((0..(n / 50).min(13)).fold(inner, |inner, _| within(inner))), vec![])
    }),
];

const OPERATOR: &str = "sriov-network-operator";

/// A pod of so many containers with accelerators, and with the profile of [`with_variables`].
pub(super) fn profiled(containers: usize) -> Value {
    let container = json!({"image": "x", "resources": {"limits": {"nvidia.com/gpu": 1}}});
    json!({"metadata": {"annotations": {"fabric-admission.dev/profile": "v"}}, "spec": {"containers": vec![container; containers]}})
}

/// A profile with variables that have a long value and a long reason.
pub(super) fn with_variables() -> Object {
    let (value, reason) = ("v".repeat(100), "r".repeat(100));
    let env: Vec<Value> =
        (0..20).map(|i| json!({"name": format!("NCCL_V{i}"), "value": value, "reason": reason})).collect();
    let object = json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile",
        "metadata": {"name": "v"}, "spec": {"base": "roce-sriov", "env": env}});
    ("fabric-admission.dev", "FabricProfile", "", object)
}

/// A profile that requires 60 variables, and a node of it.
fn strict(i: usize) -> [Object; 2] {
    let variable =
        |v: usize| json!({"name": format!("NCCL_S{v}"), "value": format!("{i}"), "policy": "require"});
    let pool = json!({"pool": format!("p{i}")});
    let profile = json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile",
        "metadata": {"name": format!("p{i}")}, "spec": {"base": "roce-sriov", "nodeSelector": {"matchLabels": pool},
            "env": (0..60).map(variable).collect::<Vec<_>>()}});
    let node = json!({"metadata": {"name": format!("n{i}"), "labels": pool},
        "status": {"allocatable": {"nvidia.com/gpu": "8"}}});
    [("fabric-admission.dev", "FabricProfile", "", profile), ("", "Node", "", node)]
}

fn updated(mut object: Value) -> Value {
    object["update"] = true.into();
    object
}

fn job_set(spec: Value) -> Value {
    json!({"kind": "JobSet", "apiVersion": "jobset.x-k8s.io/v1", "spec": spec})
}

/// Jobs of a JobSet with a pod each.
fn jobs(pod: &Value, jobs: usize) -> Value {
    let job = |i: usize| json!({"name": format!("j{i}"), "replicas": 2, "template": {"spec": {"parallelism": 2, "template": pod}}});
    json!({"replicatedJobs": (0..jobs).map(job).collect::<Vec<_>>()})
}

/// A pod with variables that NCCL does not know.
fn bad(variables: usize) -> Value {
    let env: Vec<Value> = (0..variables).map(|i| json!({"name": format!("NCCL_X{i}")})).collect();
    json!({"spec": {"containers": [{"image": "x", "env": env, "resources": {"limits": {"nvidia.com/gpu": 8}}}]}})
}

pub(super) fn train_job(mut spec: Value) -> Value {
    spec["runtimeRef"] = json!({"kind": "TrainingRuntime", "name": "r"});
    json!({"kind": "TrainJob", "apiVersion": "trainer.kubeflow.org/v1", "spec": spec})
}

/// A TrainingRuntime with so many jobs, each with so many variables.
pub(super) fn runtime(jobs: usize, variables: usize) -> Object {
    let env: Vec<Value> =
        (0..variables).map(|i| json!({"name": format!("NCCL_Y{i}"), "value": "1"})).collect();
    let container =
        json!({"name": "node", "image": "x", "env": env, "resources": {"limits": {"nvidia.com/gpu": "8"}}});
    let labels = json!({"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"});
    let job = |i: usize| {
        json!({"name": format!("j{i}"), "template": {"metadata": {"labels": labels},
            "spec": {"template": {"spec": {"containers": [container]}}}}})
    };
    let jobs: Vec<Value> = (0..jobs).map(job).collect();
    let object = json!({"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainingRuntime",
        "metadata": {"name": "r", "namespace": "team"},
        "spec": {"mlPolicy": {"numNodes": 2}, "template": {"spec": {"replicatedJobs": jobs}}}});
    ("trainer.kubeflow.org", "TrainingRuntime", "team", object)
}

fn policy(name: &str, nics: Vec<String>, functions: u32) -> Value {
    json!({"apiVersion": "sriovnetwork.openshift.io/v1", "kind": "SriovNetworkNodePolicy",
        "metadata": {"name": name, "namespace": OPERATOR},
        "spec": {"resourceName": name, "numVfs": functions, "isRdma": true, "linkType": "eth",
            "nicSelector": {"vendor": "15b3", "pfNames": nics}, "nodeSelector": {"fabric": "roce"}}})
}
