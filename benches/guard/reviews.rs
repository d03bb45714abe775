//! Ten reviews whose cost is kept: what a busy cluster sends, and the shapes beside it.

use super::scene::{builder, networks, pod, review};
use fabric_admission::facts::EnforcementMode;
use fabric_admission::review::admission_response;
use fabric_admission::review::decide_webhook_request::{WebhookEntry, decide_body_for_anyone};
use fabric_admission::snapshot::{Layer, Snapshot};
use serde_json::{Value, json};

/// A review, the entry that it goes to, and its name in the tables.
pub(crate) struct Review {
    pub(crate) name: &'static str,
    entry: WebhookEntry,
    body: Vec<u8>,
}

impl Review {
    /// Decides on the review and writes the answer, as a request does. Returns the length of the answer in bytes.
    #[inline(never)] // callgrind counts what happens within
    pub(crate) fn answer(&self, snapshot: &Snapshot) -> usize {
        let answer = decide_body_for_anyone(&self.body, self.entry, snapshot).unwrap();
        admission_response::render(&answer).len()
    }

    /// The length of the request's body, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.body.len()
    }
}

/// The facts: 16 profiles, one of which serves the pods, and 100 networks.
pub(crate) fn snapshot() -> Snapshot {
    let mut builder = builder();
    for i in 0..16 {
        let mut spec = json!({"base": "roce-sriov"});
        if i > 0 {
            let network = format!("default/network-{i}");
            spec["rails"] =
                json!([{"network": network, "resource": format!("example.com/resource_{i}"), "count": 8}]);
        }
        let (api, kind) = ("fabric-admission.dev/v1alpha1", "FabricProfile");
        let profile =
            json!({"apiVersion": api, "kind": kind, "metadata": {"name": format!("site-{i}")}, "spec": spec});
        builder.add(Layer::Live, "fabric-admission.dev", kind, &profile.to_string(), "").unwrap();
    }
    networks(&mut builder, 100);
    builder.build()
}

/// The reviews, in the order of the tables.
pub(crate) fn reviews() -> Vec<Review> {
    let named = pod(8, true);
    let mut found = pod(8, false);
    found["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/sriov_resource"] = "8".into();
    let mut idle = pod(0, false);
    let variables = idle["spec"]["containers"][0]["env"].as_array_mut().unwrap();
    variables.retain(|v| !v["name"].as_str().unwrap().starts_with("NCCL_"));
    let mut alone = pod(1, false);
    alone["spec"].as_object_mut().unwrap().remove("nodeSelector");
    let mut attached = named.clone();
    attached["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"] =
        json!(vec![json!({"name": "sriov-rdma-network", "namespace": "default"}); 8]).to_string().into();
    let mut broken = named.clone();
    broken["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"] = "[{\"name\": ".into();

    let as_is = |name, entry, pod: &Value| Review { name, entry, body: review(pod) };
    vec![
        as_is("a pod that names its profile", WebhookEntry::Mutate, &named),
        as_is("a pod whose devices choose its profile", WebhookEntry::Mutate, &found),
        as_is("a pod without a profile", WebhookEntry::Mutate, &alone),
        as_is("a pod without accelerators", WebhookEntry::Mutate, &idle),
        as_is("a pod that has its networks", WebhookEntry::Mutate, &attached),
        as_is("a pod with a broken annotation", WebhookEntry::Mutate, &broken),
        as_is("a pod at the second stage", WebhookEntry::Validate, &attached),
        as_is("a pod of an auditing namespace", WebhookEntry::Audit, &named),
        Review { name: "a Job", entry: WebhookEntry::Workload(EnforcementMode::Audit), body: job(&named) },
        Review {
            name: "a NetworkAttachmentDefinition",
            entry: WebhookEntry::Object(EnforcementMode::Audit),
            body: network(),
        },
    ]
}

/// A Job whose pods are like this one.
fn job(pod: &Value) -> Vec<u8> {
    let template = json!({"metadata": {"annotations": pod["metadata"]["annotations"]}, "spec": pod["spec"]});
    let spec =
        json!({"completionMode": "Indexed", "completions": 16, "parallelism": 16, "template": template});
    let job = json!({"apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": "llm-pretrain", "namespace": "team"}, "spec": spec});
    of_kind("batch", "v1", "Job", "jobs", &job)
}

fn network() -> Vec<u8> {
    let config = json!({"cniVersion": "1.0.0", "name": "sriov-rdma-network", "plugins": [
        {"type": "sriov", "ipam": {"type": "whereabouts", "range": "10.56.217.0/24"}}, {"type": "rdma"}]});
    let network = json!({"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition",
        "metadata": {"name": "sriov-rdma-network", "namespace": "default",
            "annotations": {"k8s.v1.cni.cncf.io/resourceName": "nvidia.com/sriov_resource"}},
        "spec": {"config": config.to_string()}});
    of_kind(
        "k8s.cni.cncf.io",
        "v1",
        "NetworkAttachmentDefinition",
        "network-attachment-definitions",
        &network,
    )
}

/// The review of an object that is not a pod.
fn of_kind(group: &str, version: &str, kind: &str, resource: &str, object: &Value) -> Vec<u8> {
    let mut body: Value = serde_json::from_slice(&review(object)).unwrap();
    let kind = json!({"group": group, "version": version, "kind": kind});
    let resource = json!({"group": group, "version": version, "resource": resource});
    for key in ["kind", "requestKind"] {
        body["request"][key] = kind.clone();
    }
    for key in ["resource", "requestResource"] {
        body["request"][key] = resource.clone();
    }
    body.to_string().into_bytes()
}
