//! What the benches have in common: a training pod in its review, and a builder that knows the compiled-in profiles.

use fabric_admission::manifest::{DocumentOrError, read_documents_of_file};
use fabric_admission::profile::FabricProfile;
use fabric_admission::profile::built_in_bases::BASES;
use fabric_admission::snapshot::{Builder, Layer};
use serde_json::{Map, Value, json};

/// A builder without facts.
pub(crate) fn builder() -> Builder {
    let base = |(name, text): &(&str, &str)| match read_documents_of_file(name, text.as_bytes()).pop() {
        Some(DocumentOrError::Document(document)) => {
            serde_json::from_str::<FabricProfile>(document.json.get()).unwrap()
        }
        other => panic!("{name}: {other:?}"),
    };
    Builder::new(BASES.iter().map(base).collect())
}

/// Adds the namespace of the pod, and so many networks; the first is the one of the pod's profile.
pub(crate) fn networks(builder: &mut Builder, networks: usize) {
    builder.add(Layer::Live, "", "Namespace", &namespace().to_string(), "").unwrap();
    for i in 0..networks {
        let (group, kind) = ("k8s.cni.cncf.io", "NetworkAttachmentDefinition");
        builder.add(Layer::Live, group, kind, &network(i).to_string(), "").unwrap();
    }
}

/// The namespace of the pod.
pub(crate) fn namespace() -> Value {
    json!({"metadata": {"name": "team", "labels": {"fabric-admission.dev/mode": "enforce"}}})
}

/// A network; the first is the one of the pod's profile.
pub(crate) fn network(number: usize) -> Value {
    let (name, resource) = match number {
        0 => ("sriov-rdma-network".to_owned(), "nvidia.com/sriov_resource".to_owned()),
        _ => (format!("network-{number}"), format!("example.com/resource_{number}")),
    };
    let annotations = json!({"k8s.v1.cni.cncf.io/resourceName": resource});
    let metadata = json!({"name": name, "namespace": "default", "annotations": annotations});
    json!({"metadata": metadata, "spec": {"config": "{}"}})
}

/// A request as a 1.36 API server sends it for a pod that the job controller makes.
pub(crate) fn review(pod: &Value) -> Vec<u8> {
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
pub(crate) fn pod(accelerators: u32, named: bool) -> Value {
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
        let value = match name {
            "NCCL_DEBUG" => "WARN".to_owned(),
            "TORCH_NCCL_ASYNC_ERROR_HANDLING" => "1".to_owned(),
            _ => format!("value-{i}"),
        };
        env.push(json!({"name": name, "value": value}));
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
