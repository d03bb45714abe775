//! What a decision costs, beside what merely reading the same body costs. The floor is the decoder alone: the
//! envelope and the fields of a pod that decide something. `cargo bench --bench decision`.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use criterion::{BenchmarkId, Criterion, Throughput};
use fabric_admission::fabric::FabricProfile;
use fabric_admission::fabric::base::BASES;
use fabric_admission::manifest::{Item, read};
use fabric_admission::pod::PodView;
use fabric_admission::review::webhook::{Entry, Outcome, handle};
use fabric_admission::review::{decode, envelope, response};
use fabric_admission::snapshot::{Builder, Layer, Snapshot};
use serde_json::{Map, Value, json};
use std::hint::black_box;
use std::time::Duration;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    training_pod(&mut criterion);
    slope(&mut criterion);
    worst(&mut criterion);
    hostile(&mut criterion);
    criterion.final_summary();
}

/// The review that the bars are about, and the same work left out step by step.
fn training_pod(criterion: &mut Criterion) {
    let body = review(&pod(8, true));
    assert!((7200..=7800).contains(&body.len()), "{} bytes", body.len());
    let snapshot = snapshot(1, 10);
    let outcome = decide(&body, &snapshot);
    assert!(!outcome.decision.denied, "{:?}", outcome.decision.findings);
    assert_eq!(outcome.decision.patch.len(), 10);
    let idle = review(&pod(0, false));
    assert!(!decide(&idle, &snapshot).decision.in_scope);

    let mut group = criterion.benchmark_group("training pod");
    group.throughput(Throughput::Bytes(u64::try_from(body.len()).unwrap()));
    group.bench_function("decision", |b| b.iter(|| decide(black_box(&body), &snapshot)));
    group.bench_function("decision and answer", |b| {
        b.iter(|| response::render(&decide(black_box(&body), &snapshot)).unwrap())
    });
    group.bench_function("fields alone", |b| b.iter(|| floor(black_box(&body))));
    group.bench_function("serde_json::Value", |b| {
        b.iter(|| serde_json::from_slice::<Value>(black_box(&body)).unwrap())
    });
    group.throughput(Throughput::Bytes(u64::try_from(idle.len()).unwrap()));
    group.bench_function("out of scope", |b| b.iter(|| decide(black_box(&idle), &snapshot)));
    group.finish();
}

/// What a decision costs as the cluster grows: for a pod that names its profile, and for one whose profile
/// is found by what the pod asks for.
fn slope(criterion: &mut Criterion) {
    let named = review(&pod(8, true));
    let mut found = pod(8, false);
    found["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/sriov_resource"] = "8".into();
    let found = review(&found);
    let mut group = criterion.benchmark_group("slope");
    for (profiles, networks) in [(1, 10), (64, 10), (512, 10), (1, 10_000), (512, 10_000)] {
        let snapshot = snapshot(profiles, networks);
        for (how, body) in [("named", &named), ("found", &found)] {
            assert_eq!(decide(body, &snapshot).decision.profile.as_deref(), Some("site-0"));
            let id = BenchmarkId::new(how, format!("{profiles} profiles, {networks} networks"));
            group.bench_function(id, |b| b.iter(|| decide(black_box(body), &snapshot)));
        }
    }
    group.finish();
}

/// The largest pod that the API server takes and that asks for accelerators everywhere.
fn worst(criterion: &mut Criterion) {
    let body = worst_review();
    assert!((7 << 20..=8 << 20).contains(&body.len()), "{} bytes", body.len());
    let snapshot = snapshot(1, 10);
    let mut group = criterion.benchmark_group("worst");
    group.sample_size(20).measurement_time(Duration::from_secs(8));
    group.throughput(Throughput::Bytes(u64::try_from(body.len()).unwrap()));
    group.bench_function("decision", |b| b.iter(|| decide(black_box(&body), &snapshot)));
    group.bench_function("decision and answer", |b| {
        b.iter(|| response::render(&decide(black_box(&body), &snapshot)).unwrap())
    });
    group.bench_function("fields alone", |b| b.iter(|| floor(black_box(&body))));
    group.finish();
}

/// Pods that nobody writes and anybody may send: a list repeated until the body is 256 KiB long. What is said of
/// twice the body must cost about twice as much.
fn hostile(criterion: &mut Criterion) {
    const SIZES: [usize; 2] = [128 << 10, 256 << 10];
    let mut group = criterion.benchmark_group("hostile");
    group.sample_size(10).measurement_time(Duration::from_secs(3));
    let snapshot = snapshot(1, 10);
    type Shape = fn(usize) -> Value;
    let shapes: [(&str, Shape); 4] = [
        ("resources", many_resources),
        ("targets", many_targets),
        ("volumes", many_volumes),
        ("networks", many_networks),
    ];
    for (name, shape) in shapes {
        for size in SIZES {
            let body = review(&shape(size));
            assert!(body.len().abs_diff(size) < 24 << 10, "{name}: {} bytes", body.len());
            let id = BenchmarkId::new(name, format!("{} KiB", size >> 10));
            group.throughput(Throughput::Bytes(u64::try_from(body.len()).unwrap()));
            // Some of them are refused as they are read; that must cost little as well.
            group.bench_function(id, |b| {
                b.iter(|| handle(black_box(&body), Entry::Mutate, &snapshot).is_ok())
            });
        }
    }
    group.finish();
}

/// One container that lists resource after resource, in limits and in requests.
fn many_resources(size: usize) -> Value {
    let mut pod = pod(8, true);
    let list: Map<_, _> = (0..size / 32).map(|i| (format!("a.io/{i:05}"), json!(1))).collect();
    let mut limits = list.clone();
    limits.insert("nvidia.com/gpu".to_owned(), json!(8));
    pod["spec"]["containers"][0]["resources"] = json!({"limits": limits, "requests": list});
    pod
}

/// Containers that each get everything but `IPC_LOCK`.
fn many_targets(size: usize) -> Value {
    let mut pod = pod(8, true);
    let container = json!({"name": "a", "resources": {"limits": {"nvidia.com/gpu": 2}}});
    pod["spec"]["containers"] = vec![container; size / 58].into();
    pod["spec"]["securityContext"]["runAsUser"] = 1000.into();
    pod
}

/// Containers that mount what is not among the volumes.
fn many_volumes(size: usize) -> Value {
    let mut pod = pod(8, true);
    let mount = json!({"name": "gone", "mountPath": "/dev/shm"});
    let container =
        json!({"name": "a", "resources": {"limits": {"nvidia.com/gpu": 2}}, "volumeMounts": [mount]});
    pod["spec"]["containers"] = vec![container; size / 230].into();
    pod["spec"]["volumes"] = (0..size / 36).map(|i| json!({"name": format!("v{i:06}")})).collect();
    pod
}

/// An annotation that asks for network after network.
fn many_networks(size: usize) -> Value {
    let mut pod = pod(8, true);
    pod["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"] =
        vec!["a"; size / 2 - 8000].join(",").into();
    pod
}

fn decide(body: &[u8], snapshot: &Snapshot) -> Outcome {
    handle(body, Entry::Mutate, snapshot).unwrap()
}

/// Reads the fields that a decision reads, and nothing more. Returns how many variables there are.
fn floor(body: &[u8]) -> usize {
    let request = envelope::parse(body).unwrap();
    let pod: PodView<'_> = decode::object(request.object.unwrap().get()).unwrap();
    black_box(&pod).containers().iter().map(|c| c.env().len()).sum()
}

/// Profiles `site-0` and on, each with networks and a resource of its own, and network attachments.
fn snapshot(profiles: usize, networks: usize) -> Snapshot {
    let base = |(name, text): &(&str, &str)| match read(name, text.as_bytes()).pop() {
        Some(Item::Document(document)) => serde_json::from_str::<FabricProfile>(document.json.get()).unwrap(),
        other => panic!("{name}: {other:?}"),
    };
    let mut builder = Builder::new(BASES.iter().map(base).collect());
    for i in 0..profiles {
        let mut spec = json!({"base": "roce-sriov"});
        if i > 0 {
            let network = format!("default/fabric-{i}");
            spec["rails"] =
                json!([{"network": network, "resource": format!("example.com/fabric_{i}"), "count": 8}]);
        }
        let metadata = json!({"name": format!("site-{i}")});
        let (api, kind) = ("fabric-admission.dev/v1alpha1", "FabricProfile");
        let profile = json!({"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec});
        builder.add(Layer::Live, "fabric-admission.dev", kind, &profile.to_string(), "").unwrap();
    }
    for i in 0..networks {
        let (name, resource) = match i {
            0 => ("sriov-rdma-network".to_owned(), "nvidia.com/sriov_resource".to_owned()),
            _ => (format!("network-{i}"), format!("example.com/resource_{i}")),
        };
        let annotations = json!({"k8s.v1.cni.cncf.io/resourceName": resource});
        let metadata = json!({"name": name, "namespace": "default", "annotations": annotations});
        let network = json!({"metadata": metadata, "spec": {"config": "{}"}});
        let (group, kind) = ("k8s.cni.cncf.io", "NetworkAttachmentDefinition");
        builder.add(Layer::Live, group, kind, &network.to_string(), "").unwrap();
    }
    let namespace = json!({"metadata": {"name": "team", "labels": {"fabric-admission.dev/mode": "enforce"}}});
    builder.add(Layer::Live, "", "Namespace", &namespace.to_string(), "").unwrap();
    builder.build()
}

/// A request as a 1.36 API server sends it for a pod that the job controller makes.
fn review(pod: &Value) -> Vec<u8> {
    let kind = json!({"group": "", "version": "v1", "kind": "Pod"});
    let resource = json!({"group": "", "version": "v1", "resource": "pods"});
    let user = json!({
        "username": "system:serviceaccount:kube-system:job-controller",
        "uid": "f41f3e64-1d4f-45ba-90bf-a6bafe90d64f",
        "groups": ["system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"],
        "extra": {"authentication.kubernetes.io/credential-id": ["JTI=b865f3c8-0fc5-4762-b3f8-41168babe60f"]},
    });
    let request = json!({
        "uid": "f8e5b4f7-2e3c-4213-a539-c9beb247b22a", "kind": kind, "resource": resource, "requestKind": kind,
        "requestResource": resource, "namespace": "team", "operation": "CREATE", "userInfo": user,
        "object": pod, "oldObject": null, "dryRun": false,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
    });
    let review = json!({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request});
    review.to_string().into_bytes()
}

/// A worker of a training job, defaulted and with its managed fields.
fn pod(accelerators: u32, named: bool) -> Value {
    let labels = json!({
        "app": "llm-pretrain", "batch.kubernetes.io/controller-uid": "819406b1-381e-44d2-963c-f4e37befa82a",
        "batch.kubernetes.io/job-completion-index": "3", "batch.kubernetes.io/job-name": "llm-pretrain",
        "kueue.x-k8s.io/queue-name": "research",
    });
    let mut annotations =
        json!({"batch.kubernetes.io/job-completion-index": "3", "prometheus.io/scrape": "true"});
    if named {
        annotations["fabric-admission.dev/profile"] = "site-0".into();
    }
    let owner = json!({
        "apiVersion": "batch/v1", "kind": "Job", "name": "llm-pretrain",
        "uid": "819406b1-381e-44d2-963c-f4e37befa82a", "controller": true, "blockOwnerDeletion": true,
    });
    let (env, fields) = variables();
    let fields = json!({
        "f:metadata": {"f:annotations": {".": {}, "f:prometheus.io/scrape": {}}, "f:generateName": {}, "f:labels": {".": {}, "f:app": {}}},
        "f:spec": {
            "f:containers": {"k:{\"name\":\"trainer\"}": {
                ".": {}, "f:args": {}, "f:command": {}, "f:env": fields, "f:image": {}, "f:name": {},
                "f:resources": {".": {}, "f:limits": {".": {}, "f:cpu": {}, "f:memory": {}, "f:nvidia.com/gpu": {}}},
            }},
            "f:restartPolicy": {}, "f:schedulerName": {}, "f:volumes": {".": {}, "k:{\"name\":\"data\"}": {".": {}, "f:name": {}}},
        },
    });
    let mut limits = json!({"cpu": "96", "memory": "1536Gi"});
    if accelerators > 0 {
        limits["nvidia.com/gpu"] = accelerators.to_string().into();
    }
    let container = json!({
        "name": "trainer", "image": "registry.example.com/research/trainer:2.9.0-cu130",
        "command": ["torchrun"],
        "args": ["--nnodes=16", "--nproc-per-node=8", "--rdzv-backend=c10d", "--rdzv-endpoint=llm-pretrain-0.llm-pretrain:29500", "pretrain.py"],
        "env": env, "resources": {"limits": limits, "requests": limits},
        "volumeMounts": [
            {"name": "data", "mountPath": "/data", "readOnly": true},
            {"name": "kube-api-access-x7k2p", "readOnly": true, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"},
        ],
        "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File", "imagePullPolicy": "IfNotPresent",
    });
    let token = json!({"name": "kube-api-access-x7k2p", "projected": {"defaultMode": 420, "sources": [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}},
    ]}});
    let tolerate = |key: &str| json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300});
    json!({
        "kind": "Pod", "apiVersion": "v1",
        "metadata": {
            "generateName": "llm-pretrain-3-", "namespace": "team", "labels": labels, "annotations": annotations,
            "ownerReferences": [owner], "finalizers": ["batch.kubernetes.io/job-tracking"],
            "managedFields": [{
                "manager": "kube-controller-manager", "operation": "Update", "apiVersion": "v1",
                "time": "2026-11-21T01:56:40Z", "fieldsType": "FieldsV1", "fieldsV1": fields,
            }],
        },
        "spec": {
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "corpus", "readOnly": true}}, token],
            "containers": [container], "restartPolicy": "Never", "terminationGracePeriodSeconds": 30,
            "dnsPolicy": "ClusterFirst", "nodeSelector": {"node.kubernetes.io/instance-type": "h100-8"},
            "serviceAccountName": "default", "serviceAccount": "default", "securityContext": {},
            "hostname": "llm-pretrain-3", "subdomain": "llm-pretrain", "schedulerName": "default-scheduler",
            "tolerations": [tolerate("node.kubernetes.io/not-ready"), tolerate("node.kubernetes.io/unreachable")],
            "priority": 0, "enableServiceLinks": false, "preemptionPolicy": "PreemptLowerPriority",
        },
        "status": {},
    })
}

/// The variables of a training container, and their managed fields.
fn variables() -> (Value, Value) {
    const NAMES: &str = "NCCL_DEBUG NCCL_TIMEOUT TORCH_NCCL_ASYNC_ERROR_HANDLING TORCH_DISTRIBUTED_DEBUG OMP_NUM_THREADS \
        CUDA_DEVICE_MAX_CONNECTIONS PYTHONUNBUFFERED PYTORCH_CUDA_ALLOC_CONF HF_HOME HF_DATASETS_CACHE TOKENIZERS_PARALLELISM \
        WANDB_PROJECT WANDB_MODE WANDB_DIR MASTER_PORT MODEL_NAME MODEL_REVISION SEQ_LENGTH MICRO_BATCH GLOBAL_BATCH \
        TENSOR_PARALLEL PIPELINE_PARALLEL CONTEXT_PARALLEL LEARNING_RATE WARMUP_STEPS MAX_STEPS SAVE_EVERY EVAL_EVERY \
        CHECKPOINT_DIR DATA_DIR LOG_LEVEL SEED PRECISION FLASH_ATTENTION PROFILE_STEPS TRITON_CACHE_DIR RDZV_TIMEOUT";
    let mut fields = Map::from_iter([(".".to_owned(), json!({}))]);
    let mut env = Vec::new();
    for (i, name) in NAMES.split_whitespace().enumerate() {
        env.push(json!({"name": name, "value": format!("value-{i}")}));
        if i % 4 != 3 {
            fields
                .insert(format!("k:{{\"name\":\"{name}\"}}"), json!({".": {}, "f:name": {}, "f:value": {}}));
        }
    }
    for (name, path) in
        [("POD_IP", "status.podIP"), ("NODE_NAME", "spec.nodeName"), ("RANK", "metadata.labels['x']")]
    {
        env.push(json!({"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}}));
    }
    (env.into(), fields.into())
}

/// A thousand containers with sixty variables and an accelerator each, close to 8 MiB.
fn worst_review() -> Vec<u8> {
    let mut pod = pod(1, true);
    let env: Vec<Value> = (0..60)
        .map(|i| json!({"name": format!("VARIABLE_NUMBER_{i}"), "value": format!("{i}-{}", "x".repeat(76))}))
        .collect();
    let mut container = pod["spec"]["containers"][0].take();
    container["env"] = env.into();
    let containers = (0..1000).map(|i| {
        let mut container = container.clone();
        container["name"] = format!("trainer-{i}").into();
        container
    });
    pod["spec"]["containers"] = containers.collect();
    review(&pod)
}
