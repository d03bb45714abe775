//! Which pods are looked at, at which entry, and what may refuse them.

use super::decide_webhook_request::{Answer, WebhookEntry, decide_body_for_anyone};
use crate::rules::{PodsChecked, find_rule};
use crate::snapshot::{Builder, Snapshot};

const ENTRIES: [WebhookEntry; 3] = [WebhookEntry::Mutate, WebhookEntry::Validate, WebhookEntry::Audit];

fn snapshot() -> Snapshot {
    Builder::default().build()
}

fn answer(entry: WebhookEntry, pod: &str) -> Answer {
    let body = format!(
        r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u","namespace":"team",
            "kind":{{"group":"","version":"v1","kind":"Pod"}},"operation":"CREATE","object":{pod}}}}}"#
    );
    decide_body_for_anyone(body.as_bytes(), entry, &snapshot()).unwrap()
}

fn pod(metadata: &str, container: &str) -> String {
    format!(r#"{{"metadata":{{{metadata}}},"spec":{{"containers":[{{"name":"a"{container}}}]}}}}"#)
}

fn networks(text: &str) -> String {
    format!(r#""annotations":{{"k8s.v1.cni.cncf.io/networks":"{text}"}}"#)
}

#[test]
fn pods_without_a_sign_of_a_fabric_are_admitted() {
    let container =
        r#","env":[{"name":"LOG"}],"resources":{"limits":{"memory":"1Gi"},"requests":{"memory":"2Gi"}}"#;
    for entry in ENTRIES {
        let decision = answer(entry, &pod("", container)).decision;
        assert!(!decision.in_scope && decision.findings.is_empty() && !decision.denied);
    }
}

#[test]
fn variables_alone_never_refuse_a_pod() {
    let container =
        r#","env":[{"name":"UCX_TLS"}],"resources":{"limits":{"memory":"1Gi"},"requests":{"memory":"2Gi"}}"#;
    let found = |entry| {
        let decision = answer(entry, &pod("", container)).decision;
        assert!(!decision.denied && decision.patch.is_empty(), "{entry:?}");
        decision.findings.len()
    };
    assert_eq!(ENTRIES.map(found), [1, 0, 1]);
}

#[test]
fn what_keeps_a_pod_from_starting_is_refused_without_accelerators_too() {
    for (metadata, container, denied) in [
        (networks("a,,b"), "", [true, true, false]),
        (networks("a"), r#","resources":{"limits":{"rdma/a":"1.5"}}"#, [false, true, false]),
        (networks("a@x,b@x"), "", [false, true, false]),
        (networks("a"), r#","resources":{"limits":{"rdma/a":"1"}}"#, [false; 3]),
    ] {
        let pod = pod(&metadata, container);
        let decisions = ENTRIES.map(|entry| answer(entry, &pod).decision);
        assert!(
            decisions.iter().all(|d| d.in_scope && d.rules_only && d.patch.is_empty() && d.profile.is_none())
        );
        assert_eq!(decisions.map(|d| d.denied), denied, "{metadata} {container}");
    }
}

#[test]
fn a_pod_that_may_work_without_the_fabric_is_warned_about() {
    let pod = format!(
        r#"{{"metadata":{{{}}},"spec":{{"hostNetwork":true,"containers":[{{"resources":{{"limits":{{"nvidia.com/gpus":"1"}}}}}}]}}}}"#,
        networks("a,,b")
    );
    for entry in ENTRIES {
        let Answer { decision, .. } = answer(entry, &pod);
        let rules: Vec<&str> = decision.findings.iter().map(|f| f.rule).collect();
        assert_eq!((rules, decision.denied, decision.would_deny), (vec!["FAB101", "FAB207"], false, false));
    }
}

/// Rules on profiles, accelerators and NCCL have nothing to say where there are none.
#[test]
fn rules_on_profiles_look_at_no_other_pods() {
    for id in ["FAB501", "FAB802", "FAB803", "FAB806", "FAB402", "FAB720"] {
        assert_eq!(find_rule(id).unwrap().reach, PodsChecked::Accelerated, "{id}");
    }
}
