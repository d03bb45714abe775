use crate::facts::EnforcementMode;
use crate::review::decide_workload;
use crate::review::is_small_enough_to_copy::{MAX_COPIED_BYTES, MAX_COPIED_VALUES};
use crate::review::workload_request::WorkloadRequest;
use crate::snapshot::{Builder, Layer};
use serde_json::{Value, json};

const PROFILE: &str = r#"{"apiVersion":"fabric-admission.dev/v1alpha1","kind":"FabricProfile","metadata":{"name":"p"},
    "spec":{"transport":"roce","attachment":"sriov","acceleratorsPerNode":8,"rails":[{"network":"net","resource":"example.com/vf"}]}}"#;

/// Whether a wrong value that the launcher sets for the ranks is found.
fn is_found_beside_workers_with(more: Value) -> bool {
    let launcher = json!({"spec": {"containers": [
        {"name": "l", "image": "x", "command": ["mpirun", "-x", "NCCL_DEBUG=LOUD", "train"]}]}});
    let worker = json!({"metadata": {"annotations": {"fabric-admission.dev/profile": "p"}}, "spec": {"more": more,
        "containers": [{"name": "w", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "8"}}}]}});
    let replicas = json!({"Launcher": {"replicas": 1, "template": launcher}, "Worker": {"replicas": 2, "template": worker}});
    let job = json!({"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": "j"},
        "spec": {"mpiReplicaSpecs": replicas}})
    .to_string();
    let mut builder = Builder::default();
    builder.add(Layer::Input, "fabric-admission.dev", "FabricProfile", PROFILE, "").unwrap();
    let request = WorkloadRequest {
        group: "kubeflow.org",
        kind: "MPIJob",
        json: &job,
        namespace: "team",
        mode: EnforcementMode::Enforce,
        opted_in: true,
        profile: None,
        as_if_running: false,
        deadline: &crate::decision_limits::NEVER,
    };
    let decision = decide_workload(request, &builder.build());
    decision
        .own
        .iter()
        .flat_map(|own| &own.findings)
        .any(|f| f.path.contains("Launcher") && f.message.contains("LOUD"))
}

/// Its template is copied for each container of a launcher.
#[test]
fn a_template_of_workers_with_more_text_or_values_than_the_limit_is_not_judged_once_more() {
    assert!(is_found_beside_workers_with(json!("x".repeat(MAX_COPIED_BYTES - 1_000))));
    assert!(!is_found_beside_workers_with(json!("x".repeat(MAX_COPIED_BYTES))));
    assert!(is_found_beside_workers_with(json!(vec![1; MAX_COPIED_VALUES - 100])));
    assert!(!is_found_beside_workers_with(json!(vec![1; MAX_COPIED_VALUES])));
}
