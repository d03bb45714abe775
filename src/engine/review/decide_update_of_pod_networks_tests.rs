//! Which changes of a stored pod's networks are refused.

use super::decide_webhook_request::{Answer, WebhookEntry, decide_body_for_anyone};
use crate::snapshot::{Builder, Settings, Snapshot};
use serde_json::json;

const NETWORKS: &str = "k8s.v1.cni.cncf.io/networks";
const DEFAULT: &str = "v1.multus-cni.io/default-network";

fn snapshot(isolation: bool) -> Snapshot {
    let settings = Settings { namespace_isolation: isolation, ..Settings::default() };
    let mut builder = Builder::default();
    builder.replace_settings(settings);
    builder.build()
}

/// The answer to an update from some annotations to others, of a pod that runs.
fn answer(old: &[(&str, &str)], new: &[(&str, &str)], isolation: bool) -> Answer {
    let pod = |annotations: &[(&str, &str)]| {
        let annotations: serde_json::Map<_, _> =
            annotations.iter().map(|(k, v)| ((*k).to_owned(), json!(v))).collect();
        json!({
            "metadata": {"name": "a", "namespace": "team", "annotations": annotations},
            "spec": {"containers": [{"name": "a", "resources": {"limits": {"rdma/a": "1.5"}}}]},
            "status": {"phase": "Running"},
        })
    };
    let body = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "u", "namespace": "team", "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "operation": "UPDATE", "object": pod(new), "oldObject": pod(old),
    }});
    decide_body_for_anyone(body.to_string().as_bytes(), WebhookEntry::Networks, &snapshot(isolation)).unwrap()
}

#[test]
fn only_newly_forbidden_networks_deny() {
    let json = r#"[{"name":"x","namespace":"bank","namespace":null}]"#;
    for (old, new, denied) in [
        (vec![], vec![(NETWORKS, "bank/x")], true),
        (vec![(NETWORKS, "own")], vec![(NETWORKS, json)], true),
        (vec![(NETWORKS, "bank/x")], vec![(NETWORKS, "bank/x,bank/y")], true),
        (vec![], vec![(DEFAULT, "bank/x")], true),
        (vec![(NETWORKS, "own")], vec![(NETWORKS, "own"), (DEFAULT, "bank/x")], true),
        (vec![(NETWORKS, "own")], vec![(NETWORKS, "[{")], true),
        // ib-kubernetes rewrites what stands there.
        (vec![(NETWORKS, "bank/x")], vec![(NETWORKS, json)], false),
        (vec![(NETWORKS, "bank/x,own")], vec![(NETWORKS, "bank/x")], false),
        (
            vec![(NETWORKS, "own")],
            vec![(NETWORKS, r#"[{"name":"own","infiniband-guid":"02:00:00:00:00:00:00:01"}]"#)],
            true,
        ),
        (vec![(NETWORKS, "bank/x")], vec![], false),
        (vec![(DEFAULT, "bank/x")], vec![(DEFAULT, "bank/x"), (NETWORKS, "own")], false),
        (
            vec![(NETWORKS, "bank/x")],
            vec![(NETWORKS, "bank/x"), ("k8s.v1.cni.cncf.io/network-status", "[]")],
            false,
        ),
        (vec![], vec![(NETWORKS, "default/x"), (DEFAULT, "kube-system/x")], false),
    ] {
        let answer = answer(&old, &new, true);
        let rules: Vec<&str> = answer.decision.findings.iter().map(|f| f.rule).collect();
        assert_eq!(answer.decision.denied, denied, "{old:?} {new:?} {rules:?}");
        assert!(rules.iter().all(|rule| *rule == "FAB150"), "{rules:?}");
        assert!(answer.decision.patch.is_empty());
    }
}

#[test]
fn without_isolation_nothing_is_refused() {
    assert!(!answer(&[], &[(NETWORKS, "bank/x")], false).decision.denied);
}

#[test]
fn an_object_that_cannot_be_read_is_no_denial() {
    let body = r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","namespace":"team",
        "kind":{"group":"","version":"v1","kind":"Pod"},"operation":"UPDATE","object":{"metadata":1},"oldObject":{}}}"#;
    assert!(decide_body_for_anyone(body.as_bytes(), WebhookEntry::Networks, &snapshot(true)).is_err());
}
