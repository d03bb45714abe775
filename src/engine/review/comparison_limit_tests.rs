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

/// Offline, the part is an error of the input.
#[test]
fn an_object_with_too_many_parts_says_that_templates_are_not_checked() {
    let pod = json!({"spec": {"containers": [{"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}});
    for (parts, place) in [(4_000, None), (5_000, Some("/spec"))] {
        let parts = vec![json!({"containers": 0}); parts];
        let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "a": parts, "spec": {"template": pod}});
        let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "u", "name": "j",
            "kind": {"group": "batch", "version": "v1", "kind": "Job"}, "namespace": "n", "operation": "CREATE", "object": job}});
        let (body, snapshot) = (review.to_string(), Builder::default().build());
        let known = SnapshotForAudience { snapshot: &snapshot, audience: Audience::Anyone };
        let decided = decide_body_within_deadline(
            body.as_bytes(),
            WebhookEntry::Workload(EnforcementMode::Enforce),
            known,
            &NEVER,
        )
        .unwrap();
        let found = decided.decision.findings.iter().find(|f| f.rule == "FAB820");
        assert_eq!(found.map(|f| &*f.path), place, "{:?}", decided.decision.findings);
        assert!(found.is_none_or(|f| f.message.contains("follows 4096 other objects")), "{found:?}");
    }
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
