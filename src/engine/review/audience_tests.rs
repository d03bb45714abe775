//! Whose objects and which nodes count for an answer (docs/adr/0021).

use super::decide_webhook_request::{WebhookEntry, decide_body_within_deadline};
use super::snapshot_for_audience::SnapshotForAudience;
use crate::decision_limits::NEVER;
use crate::rules::{Finding, Severity};
use crate::snapshot::{Audience, Builder, Layer, Settings};

type Object<'a> = (&'a str, &'a str, String);

/// The findings on a pod of namespace `mine`, in a cluster of these objects.
fn findings(objects: &[Object<'_>], pod: &str, audience: Audience) -> Vec<Finding> {
    let mut builder = Builder::default();
    let operator_namespaces = Some(["operators".to_owned()].into());
    builder.replace_settings(Settings { operator_namespaces, ..Settings::default() });
    for (group, kind, json) in objects {
        builder.add(Layer::Live, group, kind, json, "default").unwrap();
    }
    let body = format!(
        r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u","kind":{{"group":"","version":"v1","kind":"Pod"}},"operation":"CREATE","namespace":"mine","object":{pod}}}}}"#
    );
    let snapshot = builder.build();
    let known = SnapshotForAudience { snapshot: &snapshot, audience };
    decide_body_within_deadline(body.as_bytes(), WebhookEntry::Validate, known, &NEVER)
        .unwrap()
        .decision
        .findings
}

fn severity(found: &[Finding], rule: &str) -> Option<Severity> {
    found.iter().find(|f| f.rule == rule).map(|f| f.severity)
}

fn pod(limits: &str) -> String {
    format!(
        r#"{{"metadata":{{"name":"p"}},"spec":{{"containers":[{{"name":"a","image":"i","resources":{{"limits":{{"nvidia.com/gpu":"8",{limits}}}}}}}]}}}}"#
    )
}

fn policy<'a>(namespace: &str) -> Object<'a> {
    let json = format!(
        r#"{{"metadata":{{"name":"p","namespace":"{namespace}"}},"spec":{{"resourceName":"vf","isRdma":true,"linkType":"eth","numVfs":8}}}}"#
    );
    ("sriovnetwork.openshift.io", "SriovNetworkNodePolicy", json)
}

fn network<'a>(namespace: &str) -> Object<'a> {
    let json = format!(
        r#"{{"metadata":{{"name":"n","namespace":"{namespace}","annotations":{{"k8s.v1.cni.cncf.io/resourceName":"x.com/vf"}}}},
        "spec":{{"config":"{{\"type\":\"sriov\"}}"}}}}"#
    );
    ("k8s.cni.cncf.io", "NetworkAttachmentDefinition", json)
}

/// A tenant could write a network over a device, and the pods of others were refused.
#[test]
fn a_network_of_another_tenant_makes_no_denial() {
    let of = |namespaces: &[&str]| {
        let mut objects = vec![policy("operators")];
        objects.extend(namespaces.iter().map(|namespace| network(namespace)));
        severity(&findings(&objects, &pod(r#""x.com/vf":"1""#), Audience::Anyone), "FAB220")
    };
    assert_eq!(of(&[]), Some(Severity::Warning));
    assert_eq!(of(&["other"]), Some(Severity::Warning));
    assert_eq!(of(&["mine"]), Some(Severity::Error));
    assert_eq!(of(&["other", "default"]), Some(Severity::Error));
}

#[test]
fn a_policy_counts_in_the_operators_namespaces_only() {
    let found = |namespace: &str| {
        let objects = [policy(namespace), network("mine")];
        severity(&findings(&objects, &pod(r#""x.com/vf":"1""#), Audience::Anyone), "FAB220").is_some()
    };
    assert!(found("operators") && found("default"));
    // Not even in the tenant's own: the operator ignores it there.
    assert!(!found("other") && !found("mine"));
}

/// Units, labels and names of nodes are for callers that have shown a certificate.
#[test]
fn anyone_gets_no_findings_about_nodes() {
    let node = |units: &str| {
        let json = format!(
            r#"{{"metadata":{{"name":"n","labels":{{"zone":"a"}}}},"status":{{"allocatable":{{"nvidia.com/gpu":"8","x.com/vf":"{units}"}}}}}}"#
        );
        [("", "Node", json)]
    };
    for (asked, rule) in [(r#""x.com/vf":"9""#, "FAB725"), (r#""x.com/other":"1""#, "FAB720")] {
        assert!(severity(&findings(&node("8"), &pod(asked), Audience::Tenant), rule).is_some(), "{rule}");
        assert_eq!(severity(&findings(&node("8"), &pod(asked), Audience::Anyone), rule), None, "{rule}");
    }
}
