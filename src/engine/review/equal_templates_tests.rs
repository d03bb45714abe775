//! Pod templates that are alike are decided once, and what decides where their pods can run is looked up once.

use super::{WorkloadDecision, WorkloadRequest, decide_workload};
use crate::decision_limits::{DecisionLimits, NEVER};
use crate::facts::EnforcementMode;
use crate::snapshot::{Builder, Layer, Snapshot};
use serde_json::{Value, json};

fn snapshot(objects: &[Value]) -> Snapshot {
    let mut builder = Builder::default();
    for object in objects {
        let kind = object["kind"].as_str().unwrap();
        let group = if kind == "Node" { "" } else { "fabric-admission.dev" };
        builder.add(Layer::Live, group, kind, &object.to_string(), "").unwrap();
    }
    builder.build()
}

fn profile(name: &str, spec: &Value) -> Value {
    let mut all = json!({"transport": "roce", "attachment": "sriov", "acceleratorsPerNode": 1, "ipcLock": false,
        "rails": [{"network": "net", "resource": "example.com/vf"}]});
    all.as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
    json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": {"name": name}, "spec": all})
}

fn set(pods: &[Value]) -> String {
    let job =
        |(i, pod): (usize, &Value)| json!({"name": format!("j{i}"), "template": {"spec": {"template": pod}}});
    let jobs: Vec<Value> = pods.iter().enumerate().map(job).collect();
    json!({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "j"},
        "spec": {"replicatedJobs": jobs}})
    .to_string()
}

fn request<'a>(json: &'a str, deadline: &'a DecisionLimits<'a>) -> WorkloadRequest<'a> {
    WorkloadRequest {
        group: "jobset.x-k8s.io",
        kind: "JobSet",
        json,
        namespace: "n",
        mode: EnforcementMode::Enforce,
        opted_in: true,
        profile: None,
        as_if_running: false,
        deadline,
    }
}

fn container(extra: &Value) -> Value {
    let mut container = json!({"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "1"}}});
    container.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    container
}

/// Each template looks at 2,000 nodes six times. All of them together may look 262,144 times.
#[test]
fn templates_that_ask_for_the_same_nodes_share_the_looks() {
    let node = |i: usize| {
        json!({"kind": "Node", "metadata": {"name": format!("n{i}"), "labels": {"kubernetes.io/hostname": format!("n{i}"), "fabric": "a"}},
            "status": {"allocatable": {"nvidia.com/gpu": "8"}}})
    };
    let mut objects: Vec<Value> = (0..2000).map(node).collect();
    objects.push(profile("p", &json!({"nodeSelector": {"matchLabels": {"fabric": "a"}}})));
    let snapshot = snapshot(&objects);
    // No name of a host is a number.
    let none = json!({"key": "kubernetes.io/hostname", "operator": "Gt", "values": ["5"]});
    let terms = json!([{"matchExpressions": vec![none; 6]}]);
    let affinity = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}});
    let pod = |i: usize| json!({"spec": {"containers": [container(&json!({"args": [i.to_string()]}))], "affinity": affinity}});
    let json = set(&(0..100).map(pod).collect::<Vec<_>>());
    let deadline = DecisionLimits::without_clock();
    let decided = decide_workload(request(&json, &deadline), &snapshot);
    assert_eq!(decided.templates.len(), 100);
    assert!(decided.templates.iter().all(|(_, d)| d.as_ref().is_ok_and(|d| d.in_scope)));
    assert!(deadline.take_looks(200_000), "most are left");
}

fn found<'d>(decided: &'d WorkloadDecision<'_>, at: usize) -> Vec<&'d str> {
    decided.templates[at].1.as_ref().unwrap().findings.iter().map(|f| f.rule).collect()
}

/// What is decided on one of them holds for all, and each is at its place.
#[test]
fn alike_templates_are_decided_alike() {
    let snapshot = snapshot(&[profile("p", &json!({"env": [{"name": "NCCL_V", "value": "v"}]}))]);
    let wrong = container(&json!({"env": [{"name": "NCCL_DEBG", "value": "INFO"}]}));
    let [one, other] = [wrong, container(&json!({}))]
        .map(|c| json!({"metadata": {"annotations": {"fabric-admission.dev/profile": "p"}}, "spec": {"containers": [c]}}));
    let json = set(&[one.clone(), other.clone(), one, other]);
    let decided = decide_workload(request(&json, &NEVER), &snapshot);
    assert_eq!(found(&decided, 0), found(&decided, 2));
    assert_eq!(found(&decided, 1), found(&decided, 3));
    assert_ne!(found(&decided, 0), found(&decided, 1));
    for (at, (template, decision)) in decided.templates.iter().enumerate() {
        assert_eq!(template.pointer, format!("/spec/replicatedJobs/{at}/template/spec/template"));
        assert!(!decision.as_ref().unwrap().plan.changes.is_empty());
    }
}

/// Beyond the limit, templates that are alike one before are decided as it is, and others are not checked.
#[test]
fn different_templates_are_checked_up_to_a_limit() {
    let env: Vec<Value> = (0..100).map(|i| json!({"name": format!("NCCL_V{i}"), "value": "v"})).collect();
    let snapshot = snapshot(&[profile("p", &json!({"env": env}))]);
    let pod = |i: usize| {
        json!({"metadata": {"annotations": {"fabric-admission.dev/profile": "p", "number": i.to_string()}},
            "spec": {"containers": vec![container(&json!({})); 16]}})
    };
    for (different, unchecked) in [(1, false), (30, false), (60, true)] {
        let mut pods: Vec<Value> = (0..120).map(|i| pod(i % different)).collect();
        pods.push(pod(0));
        let json = set(&pods);
        let decided = decide_workload(request(&json, &NEVER), &snapshot);
        let checked = |at: usize| is_checked(&decided, at);
        assert!(checked(0) && checked(20) && checked(120), "{different}");
        assert_eq!(checked(59), !unchecked, "{different}");
        let said = first_unchecked(&decided);
        assert_eq!(said.is_some(), unchecked, "{different}");
        if let Some(at) = said {
            assert!(!checked(at) && checked(at - 1), "{at}");
        }
    }
}

/// Whether there is a decision on a template, which requests accelerators.
fn is_checked(decided: &WorkloadDecision<'_>, at: usize) -> bool {
    let pointer = format!("/spec/replicatedJobs/{at}/template/spec/template");
    let found = decided.templates.iter().find(|(template, _)| template.pointer == pointer);
    found.is_some_and(|(_, decision)| decision.as_ref().unwrap().in_scope)
}

/// The first template that is said not to be checked.
fn first_unchecked(decided: &WorkloadDecision<'_>) -> Option<usize> {
    let own = decided.own.as_ref().map(|own| own.findings.as_slice()).unwrap_or_default();
    let mut said = own.iter().filter(|f| f.rule == "FAB820" && f.message.ends_with("not checked"));
    let finding = said.next()?;
    assert!(said.next().is_none(), "{own:?}");
    finding.path.split('/').nth(3)?.parse().ok()
}

/// Templates without a profile count too, and what is not checked behind them is said.
#[test]
fn templates_behind_many_without_a_profile_are_not_left_out_silently() {
    let snapshot = snapshot(&[profile("p", &json!({}))]);
    let set_by_hand = json!([{"name": "NCCL_DEBUG", "value": "INFO"}]);
    let filler = |i: usize| {
        let containers =
            vec![json!({"name": "c", "image": "i", "args": [i.to_string()], "env": set_by_hand}); 100];
        json!({"spec": {"containers": containers}})
    };
    for (fillers, unchecked) in [(10, false), (60, true)] {
        let mut pods: Vec<Value> = (0..fillers).map(filler).collect();
        pods.push(json!({"metadata": {"annotations": {"fabric-admission.dev/profile": "absent"}},
            "spec": {"containers": [container(&json!({}))]}}));
        let json = set(&pods);
        let decided = decide_workload(request(&json, &NEVER), &snapshot);
        assert_eq!(is_checked(&decided, fillers), !unchecked);
        assert_eq!(first_unchecked(&decided).is_some(), unchecked, "{fillers}");
    }
}
