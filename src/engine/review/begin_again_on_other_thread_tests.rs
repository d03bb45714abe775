//! A decision on the thread that read a body ends where it needs much work, whatever the length of the body, and begins
//! again on another thread.

use super::decide_webhook_request::{SnapshotForAudience, WebhookEntry, decide_body_within_deadline};
use super::{PodRequest, WorkloadRequest, decide_object_that_makes_no_pods, decide_pod, decide_workload};
use crate::decision_limits::DecisionLimits;
use crate::facts::EnforcementMode;
use crate::rules::{ObjectContext, ObjectEvent};
use crate::snapshot::{Audience, Builder, Layer, Snapshot};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};

fn snapshot(objects: &[Value]) -> Snapshot {
    let mut builder = Builder::default();
    for object in objects {
        let group =
            object["apiVersion"].as_str().and_then(|v| v.split_once('/')).map_or("", |(group, _)| group);
        let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default();
        let kind = object["kind"].as_str().unwrap();
        builder.add(Layer::Live, group, kind, &object.to_string(), namespace).unwrap();
    }
    builder.build()
}

fn profile(name: &str, spec: Value) -> Value {
    let mut all = json!({"transport": "ethernet", "attachment": "none"});
    all.as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
    json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": {"name": name}, "spec": all})
}

fn node(name: &str, pool: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels":
        {"pool": pool, "kubernetes.io/hostname": name}}, "status": {"allocatable": {"nvidia.com/gpu": "8"}}})
}

fn env(variables: usize, value: &str) -> Vec<Value> {
    (0..variables).map(|i| json!({"name": format!("NCCL_X{i}"), "value": value})).collect()
}

fn container(env: &[Value]) -> Value {
    json!({"name": "c", "image": "i", "env": env, "resources": {"limits": {"nvidia.com/gpu": "8"}}})
}

fn job_set(templates: &[Value]) -> String {
    let job = |(i, pod): (usize, &Value)| {
        let mut pod = pod.clone();
        pod["metadata"]["labels"] = json!({"number": i.to_string()});
        json!({"name": format!("j{i}"), "template": {"spec": {"template": pod}}})
    };
    let jobs: Vec<Value> = templates.iter().enumerate().map(job).collect();
    json!({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "j", "namespace": "n"},
        "spec": {"replicatedJobs": jobs}})
    .to_string()
}

/// Whether a brief decision on a JobSet is cut short; any other one may take as long as it needs.
fn is_cut(templates: &[Value], snapshot: &Snapshot) -> bool {
    let json = job_set(templates);
    let decide = |deadline: &DecisionLimits<'_>| {
        let (group, kind) = ("jobset.x-k8s.io", "JobSet");
        let (mode, opted_in, profile) = (EnforcementMode::Enforce, true, None);
        let request = WorkloadRequest {
            group,
            kind,
            json: &json,
            namespace: "n",
            mode,
            opted_in,
            profile,
            as_if_running: false,
            deadline,
        };
        let _ = decide_workload(request, snapshot);
        deadline.is_over()
    };
    assert!(!decide(&DecisionLimits::ends_when(&|| false)));
    decide(&DecisionLimits::brief_and_ends_when(&|| false))
}

#[test]
fn many_planned_values_are_not_decided_briefly() {
    let named = |containers: usize| {
        json!({"metadata": {"annotations": {"fabric-admission.dev/profile": "p"}},
            "spec": {"containers": vec![container(&[]); containers]}})
    };
    let snapshot = snapshot(&[profile("p", json!({"env": env(30, "v")}))]);
    assert!(!is_cut(&[named(8), named(8)], &snapshot));
    assert!(is_cut(&[named(20), named(20), named(20), named(20)], &snapshot));
}

#[test]
fn many_containers_and_claims_are_not_decided_briefly() {
    let containers = |n: usize| json!({"metadata": {}, "spec": {"containers": vec![container(&[]); n]}});
    let snapshot = snapshot(&[]);
    assert!(!is_cut(&[containers(20), containers(20)], &snapshot));
    assert!(is_cut(&[containers(80), containers(80)], &snapshot));
    let claims = |n: usize| {
        let claims: Vec<Value> =
            (0..n).map(|i| json!({"name": format!("c{i}"), "resourceClaimTemplateName": "t"})).collect();
        json!({"metadata": {}, "spec": {"containers": [container(&[])], "resourceClaims": claims}})
    };
    assert!(!is_cut(&[claims(8), claims(8)], &snapshot));
    assert!(is_cut(&[claims(70)], &snapshot));
}

/// Profiles of all nodes, each of which requires its own values of 60 variables.
fn requiring(profiles: usize) -> Snapshot {
    let one = |i: usize| {
        let mut env = env(60, &i.to_string());
        env.iter_mut().for_each(|entry| entry["policy"] = json!("require"));
        let selector = json!({"matchLabels": {"pool": format!("p{i}")}});
        [
            profile(&format!("f{i}"), json!({"env": env, "nodeSelector": selector})),
            node(&format!("n{i}"), &format!("p{i}")),
        ]
    };
    snapshot(&(0..profiles).flat_map(one).collect::<Vec<_>>())
}

/// The variables of a container are compared with all profiles in one go, which takes milliseconds.
#[test]
fn a_comparison_with_many_profiles_asks_the_clock() {
    let pod = json!({"metadata": {}, "spec": {"containers": [container(&env(60, "w"))]}}).to_string();
    let questions = |profiles: usize| {
        let (snapshot, asked) = (requiring(profiles), AtomicUsize::new(0));
        let over = || {
            asked.fetch_add(1, Ordering::Relaxed);
            false
        };
        let deadline = DecisionLimits::ends_when(&over);
        let request = PodRequest { deadline: &deadline, ..PodRequest::in_enforcing_namespace("n") };
        let decision = decide_pod(&pod, request, &snapshot).unwrap();
        assert!(decision.findings.iter().any(|f| f.rule == "FAB403"), "{decision:?}");
        asked.into_inner()
    };
    let (few, many) = (questions(50), questions(250));
    // One for each profile, and three for each variable: four times as many entries in parts of 64.
    assert!(many >= few + 200 + 60 * 2, "{few} {many}");
}

/// Profiles of all nodes on which a pod may run, each of which requires its own values.
#[test]
fn many_profiles_with_many_variables_are_not_compared_briefly() {
    let world = requiring;
    let pod = json!({"metadata": {}, "spec": {"containers": [container(&env(60, "w"))]}});
    assert!(!is_cut(&[pod.clone(), pod.clone()], &world(20)));
    assert!(is_cut(&[pod.clone(), pod.clone(), pod.clone(), pod], &world(200)));
}

/// The reason why a pod cannot run on the nodes of its profile is looked for within the looks of the decision.
#[test]
fn reasons_of_nodes_are_not_looked_for_beyond_the_looks() {
    let mut objects = vec![profile("p", json!({"nodeSelector": {"matchLabels": {"pool": "a"}}}))];
    objects.extend((0..2_000).map(|i| node(&format!("n{i}"), "a")));
    let snapshot = snapshot(&objects);
    let pod = |terms: usize| {
        let none = json!({"key": "kubernetes.io/hostname", "operator": "Gt", "values": ["5"]});
        let other = json!({"key": "pool", "operator": "In", "values": ["b"]});
        let terms = vec![json!({"matchExpressions": [none, other]}); terms];
        json!({"metadata": {"annotations": {"fabric-admission.dev/profile": "p"}}, "spec": {"containers": [container(&[])],
            "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}}})
    };
    assert!(!is_cut(&[pod(1)], &snapshot));
    assert!(is_cut(&[pod(20)], &snapshot));
}

#[test]
fn a_policy_is_not_compared_with_many_nics_briefly() {
    let state = |i: usize| {
        let nic = |n: usize| json!({"name": format!("eth{n}x{i}"), "vendor": "15b3", "deviceID": "1021", "pciAddress": format!("0000:0{n}:00.0"), "totalvfs": 8});
        json!({"apiVersion": "sriovnetwork.openshift.io/v1", "kind": "SriovNetworkNodeState", "metadata": {"name": format!("n{i}"), "namespace": "o"},
            "status": {"interfaces": (0..8).map(nic).collect::<Vec<_>>()}})
    };
    let policy =
        json!({"metadata": {"name": "p", "namespace": "o"}, "spec": {"resourceName": "r", "numVfs": 4,
        "nodeSelector": {"pool": "a"}, "nicSelector": {"vendor": "15b3"}}})
        .to_string();
    for (nodes, cut) in [(100, false), (1_000, true)] {
        let all = (0..nodes).flat_map(|i| [node(&format!("n{i}"), "a"), state(i)]);
        let snapshot = snapshot(&all.collect::<Vec<_>>());
        let decide = |deadline: &DecisionLimits<'_>| {
            let name = ("sriovnetwork.openshift.io", "SriovNetworkNodePolicy");
            let context =
                ObjectContext::new(name, &policy, ObjectEvent::Given, &snapshot).with_deadline(deadline);
            let _ = decide_object_that_makes_no_pods(&context, EnforcementMode::Enforce);
            deadline.is_over()
        };
        assert!(!decide(&DecisionLimits::ends_when(&|| false)));
        assert_eq!(decide(&DecisionLimits::brief_and_ends_when(&|| false)), cut, "{nodes} nodes");
    }
}

/// A new version that takes all looks is not admitted because the old one could then run anywhere.
#[test]
fn the_old_version_of_a_workload_has_looks_of_its_own() {
    let mut objects = vec![
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n", "labels": {"fabric-admission.dev/mode": "enforce"}}}),
        profile(
            "strict",
            json!({"nodeSelector": {"matchLabels": {"pool": "strict"}}, "env": [{"name": "NCCL_X0", "policy": "forbid"}]}),
        ),
        profile("open", json!({"nodeSelector": {"matchLabels": {"pool": "open"}}})),
        node("s", "strict"),
    ];
    objects.extend((0..2_000).map(|i| node(&format!("n{i}"), "open")));
    let snapshot = snapshot(&objects);
    let affinity = |terms: Value| json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}});
    let on = |name: &str| {
        affinity(
            json!([{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [name]}]}]),
        )
    };
    let forbidden = |spec: Value| {
        let mut pod = json!({"metadata": {}, "spec": {"containers": [container(&env(1, "v"))]}});
        pod["spec"].as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
        pod
    };
    // `Gt` looks at all nodes, and `In` eight times at one.
    let heavy = |(operator, from, terms): (&str, usize, usize)| {
        let value =
            |i: usize| if operator == "Gt" { (from + i).to_string() } else { format!("n{}", from + i) };
        let term = |i: usize| json!({"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": operator, "values": [value(i)]}]});
        json!({"metadata": {}, "spec": {"containers": [container(&[])], "nodeSelector": {"pool": "open"},
            "affinity": affinity((0..terms).map(term).collect())}})
    };
    let sizes = (0..8).map(|i| ("Gt", 100 * i, 50)).chain((0..8).map(|i| ("In", 100 * i, 50)));
    let heavy = || sizes.clone().map(heavy);
    let old = job_set(&[forbidden(json!({"affinity": on("n1")}))]);
    let anywhere = forbidden(json!({}));
    for (what, all, new) in [
        ("only the affinity is taken away", false, job_set(std::slice::from_ref(&anywhere))),
        ("all looks are taken", true, job_set(&[vec![anywhere], heavy().collect()].concat())),
    ] {
        let body = format!(
            r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u","namespace":"n","kind":{{"group":"jobset.x-k8s.io",
                "version":"v1alpha2","kind":"JobSet"}},"operation":"UPDATE","object":{new},"oldObject":{old}}}}}"#
        );
        let known = SnapshotForAudience { snapshot: &snapshot, audience: Audience::Anyone };
        let deadline = DecisionLimits::ends_when(&|| false);
        let answer = decide_body_within_deadline(
            body.as_bytes(),
            WebhookEntry::Workload(EnforcementMode::Enforce),
            known,
            &deadline,
        );
        assert_eq!(deadline.take_looks(8), !all, "{what}");
        let findings = answer.unwrap().decision.findings;
        assert!(findings.iter().any(|f| f.rule == "FAB403"), "{what}: {findings:?}");
    }
}
