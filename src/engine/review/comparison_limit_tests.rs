//! Pod templates beyond the limit of what is compared are judged all the same, and the object says so.

use super::decide_webhook_request::{WebhookEntry, decide_body_within_deadline};
use super::snapshot_for_audience::SnapshotForAudience;
use super::{WorkloadRequest, decide_workload};
use crate::decision_limits::NEVER;
use crate::facts::EnforcementMode;
use crate::snapshot::{Audience, Builder, Layer};
use serde_json::{Value, json};

#[test]
fn templates_beyond_the_limit_are_judged_and_reported() {
    let env: Vec<Value> = (0..30).map(|i| json!({"name": format!("NCCL_V{i}"), "value": "v"})).collect();
    let spec = json!({"transport": "roce", "attachment": "sriov", "acceleratorsPerNode": 1, "ipcLock": false,
        "rails": [{"network": "net", "resource": "example.com/vf"}], "env": env});
    let profile = json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile",
        "metadata": {"name": "p"}, "spec": spec});
    let mut builder = Builder::default();
    builder.add(Layer::Live, "fabric-admission.dev", "FabricProfile", &profile.to_string(), "").unwrap();
    let snapshot = builder.build();
    let container = json!({"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "1"}}});
    let pod = json!({"metadata": {"annotations": {"fabric-admission.dev/profile": "p"}},
        "spec": {"containers": vec![container; 100]}});
    for (jobs, beyond) in
        [(6, None), (7, Some("this pod template is not")), (9, Some("this pod template and 2 more are not"))]
    {
        let job = |i: usize| json!({"name": format!("j{i}"), "template": {"spec": {"template": pod}}});
        let set = json!({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "j"},
            "spec": {"replicatedJobs": (0..jobs).map(job).collect::<Vec<_>>()}});
        let json = set.to_string();
        let request = WorkloadRequest {
            group: "jobset.x-k8s.io",
            kind: "JobSet",
            json: &json,
            namespace: "n",
            mode: EnforcementMode::Enforce,
            opted_in: true,
            profile: None,
            as_if_running: false,
            deadline: &NEVER,
        };
        let decided = decide_workload(request, &snapshot);
        let changed = |d: &Result<super::Decision, _>| d.as_ref().is_ok_and(|d| !d.plan.changes.is_empty());
        assert!(decided.templates.iter().all(|(_, decision)| changed(decision)), "{jobs}");
        let own = decided.own.map(|own| own.findings).unwrap_or_default();
        let found: Vec<_> = own.iter().filter(|f| f.rule == "FAB820").collect();
        assert_eq!(found.len(), usize::from(beyond.is_some()), "{jobs}: {own:?}");
        for (finding, words) in found.iter().zip(beyond) {
            assert!(finding.message.contains(words), "{}", finding.message);
            assert_eq!(finding.path, "/spec/replicatedJobs/6/template/spec/template");
        }
    }
}

/// The places and messages of FAB820 that the webhook reports for an object.
fn over_limit((group, kind): (&str, &str), object: &Value) -> Vec<(String, String)> {
    let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "u", "name": "j",
        "kind": {"group": group, "version": "v1", "kind": kind}, "namespace": "n", "operation": "CREATE", "object": object}});
    let (body, snapshot) = (review.to_string(), Builder::default().build());
    let known = SnapshotForAudience { snapshot: &snapshot, audience: Audience::Anyone };
    let entry = WebhookEntry::Workload(EnforcementMode::Enforce);
    let decided = decide_body_within_deadline(body.as_bytes(), entry, known, &NEVER).unwrap();
    let found = decided.decision.findings.into_iter().filter(|f| f.rule == "FAB820");
    found.map(|f| (f.path, f.message)).collect()
}

fn pod(container: Value) -> Value {
    let mut named = json!({"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "1"}}});
    if let (Some(named), Value::Object(fields)) = (named.as_object_mut(), container) {
        named.extend(fields);
    }
    json!({"spec": {"containers": [named]}})
}

/// Offline, the part is an error of the input.
#[test]
fn an_object_with_too_many_parts_says_that_templates_are_not_checked() {
    for (parts, place) in [(4_000, None), (5_000, Some("/spec"))] {
        let parts = vec![json!({"containers": 0}); parts];
        let job = json!({"metadata": {"name": "j"}, "a": parts, "spec": {"template": pod(json!({}))}});
        let found = over_limit(("batch", "Job"), &job);
        assert_eq!(found.first().map(|(path, _)| &**path), place, "{found:?}");
        assert!(found.iter().all(|(_, message)| message.contains("follows 4096 other objects")), "{found:?}");
    }
}

/// `/mutate` answers 400 for its pods, so the user must learn of it when the workload is created.
#[test]
fn a_template_that_is_too_long_to_be_read_is_reported() {
    let resources = |count: usize| {
        let requests: serde_json::Map<_, _> = (0..count).map(|n| (format!("a.b/c{n}"), "1".into())).collect();
        json!({"resources": {"limits": {"nvidia.com/gpu": "1"}, "requests": requests}})
    };
    let variables = |count: usize| json!({"env": vec![json!({"name": "A", "value": "1"}); count]});
    for (few, many, why) in [
        (resources(64), resources(65), "more than 64 entries"),
        (variables(10_000), variables(10_001), "more than 10000 items"),
    ] {
        let job = |container: &Value| json!({"metadata": {"name": "j"}, "spec": {"template": pod(container.clone())}});
        assert!(over_limit(("batch", "Job"), &job(&few)).is_empty());
        let found = over_limit(("batch", "Job"), &job(&many));
        let [(path, message)] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(path, "/spec/template");
        assert!(message.contains("/spec/containers/0/") && message.contains(why), "{message}");
        let of_one = |container: &Value| json!({"name": "j", "template": {"spec": {"template": pod(container.clone())}}});
        let set = json!({"metadata": {"name": "j"}, "spec": {"replicatedJobs": [of_one(&json!({})), of_one(&many)]}});
        let found = over_limit(("jobset.x-k8s.io", "JobSet"), &set);
        assert!(
            found.iter().any(|(path, _)| path == "/spec/replicatedJobs/1/template/spec/template"),
            "{found:?}"
        );
    }
}

#[test]
fn a_part_of_a_pod_that_is_too_long_to_be_read_is_reported() {
    let train = |args: usize| {
        json!({"metadata": {"name": "j"}, "spec": {"trainer": {"args": ["x".repeat(args)],
            "resourcesPerNode": {"limits": {"nvidia.com/gpu": "1"}}}}})
    };
    let of_train = |args| over_limit(("trainer.kubeflow.org", "TrainJob"), &train(args));
    assert!(of_train(1_000).is_empty());
    assert_eq!(of_train(300_000).first().map(|(path, _)| &**path), Some("/spec/trainer/args"));
    let service = |args: usize| json!({"metadata": {"name": "j"}, "spec": {"template": pod(json!({"args": ["x".repeat(args)]}))["spec"]}});
    let of_service = |args| over_limit(("serving.kserve.io", "LLMInferenceService"), &service(args));
    assert!(of_service(1_000).is_empty());
    assert_eq!(of_service(300_000).first().map(|(path, _)| &**path), Some("/spec/template"));
}

#[test]
fn an_object_with_too_many_templates_says_which_are_checked() {
    let of_gpus = json!({"limits": {"nvidia.com/gpu": "1"}});
    // The templates that are not checked may ask for a fabric, although those before them do not.
    for (jobs, found, resources) in [
        (256, 0, &of_gpus),
        (257, 1, &of_gpus),
        (400, 1, &of_gpus),
        (256, 0, &json!({})),
        (257, 1, &json!({})),
    ] {
        let pod = json!({"spec": {"containers": [{"name": "c", "image": "i", "resources": resources}]}});
        let job = |i: usize| json!({"name": format!("j{i}"), "template": {"spec": {"template": pod}}});
        let set = json!({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "j"},
            "spec": {"replicatedJobs": (0..jobs).map(job).collect::<Vec<_>>()}});
        let json = set.to_string();
        let request = WorkloadRequest {
            group: "jobset.x-k8s.io",
            kind: "JobSet",
            json: &json,
            namespace: "n",
            mode: EnforcementMode::Enforce,
            opted_in: true,
            profile: None,
            as_if_running: false,
            deadline: &NEVER,
        };
        let decided = decide_workload(request, &Builder::default().build());
        assert_eq!(decided.templates.len(), 256, "{jobs}");
        let own = decided.own.map(|own| own.findings).unwrap_or_default();
        let words = |f: &&crate::rules::Finding| f.rule == "FAB820" && f.message.contains("first 256");
        assert_eq!(own.iter().filter(words).count(), found, "{jobs}: {own:?}");
    }
}
