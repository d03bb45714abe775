//! A policy that keeps the words by which namespaces and pods are made ours to some groups: the namespaces' label
//! `fabric-admission.dev/mode`, and the annotation `fabric-admission.dev/profile` of namespaces and pods.

use super::policies_of_rules_in_cel::{policy_or_binding, resource_rule};
use crate::rules::rules_in_cel::{cel_literal, literals};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Groups that hand on what others have written: controllers of Kubernetes make pods and ReplicaSets from templates, in
/// which the annotation was judged already; the kubelet mirrors pods from files of its node.
const HAND_ON: [&str; 2] = ["system:serviceaccounts:kube-system", "system:nodes"];

/// The policies and their bindings.
#[must_use]
pub fn policies_on_who_sets_our_labels(groups: &[String]) -> Vec<Value> {
    let may = |groups: &[String]| {
        format!(
            "has(request.userInfo.groups) && request.userInfo.groups.exists(g, g in {})",
            literals(groups)
        )
    };
    let handing_on: Vec<String> = groups.iter().cloned().chain(HAND_ON.map(str::to_owned)).collect();
    let who = groups.join(", ");
    let namespaces = policy(
        "namespaces",
        &[resource_rule(
            "",
            "v1",
            &["CREATE", "UPDATE"],
            &["namespaces", "namespaces/status", "namespaces/finalize"],
        )],
        &may(groups),
        &[
            (
                "label fabric-admission.dev/mode",
                "object.metadata.?labels[?'fabric-admission.dev/mode']".to_owned(),
            ),
            ("annotation fabric-admission.dev/profile", annotation("object.metadata")),
        ],
        &who,
    );
    let pods = policy(
        "pods",
        &[resource_rule("", "v1", &["CREATE", "UPDATE"], &["pods", "pods/status"])],
        &may(&handing_on),
        &[("annotation fabric-admission.dev/profile", annotation("object.metadata"))],
        &who,
    );
    let operations = ["CREATE", "UPDATE"];
    let templates = policy(
        "templates",
        &[
            resource_rule(
                "apps",
                "v1",
                &operations,
                &["daemonsets", "deployments", "replicasets", "statefulsets"],
            ),
            resource_rule("batch", "v1", &operations, &["jobs"]),
            resource_rule("", "v1", &operations, &["replicationcontrollers"]),
        ],
        &may(&handing_on),
        &[(
            "annotation fabric-admission.dev/profile of the template",
            annotation("object.spec.?template.?metadata"),
        )],
        &who,
    );
    let schedules = policy(
        "cronjobs",
        &[resource_rule("batch", "v1", &operations, &["cronjobs"])],
        &may(&handing_on),
        &[(
            "annotation fabric-admission.dev/profile of the template",
            annotation("object.spec.jobTemplate.?spec.?template.?metadata"),
        )],
        &who,
    );
    [namespaces, pods, templates, schedules].concat()
}

fn annotation(metadata: &str) -> String {
    format!("{metadata}.?annotations[?'fabric-admission.dev/profile']")
}

/// A policy on some values: only users for whom `may` is true may change them.
fn policy(name: &str, resources: &[Value], may: &str, values: &[(&str, String)], who: &str) -> Vec<Value> {
    let same = |value: &String| {
        let old = value.replace("object.", "oldObject.");
        format!("{value} == (oldObject == null ? optional.none() : {old})")
    };
    let validations = values.iter().map(|(what, value)| {
        json!({
            "expression": format!("variables.may ||\n{}", same(value)),
            "messageExpression": format!(
                "{} + request.userInfo.username + {}",
                cel_literal(&format!("{what} may be set, changed or removed only by members of: {who}; ")),
                cel_literal(" is not a member")
            ),
            "message": format!("{what} may be set, changed or removed only by members of: {who}"),
            "reason": "Forbidden",
        })
    });
    let spec = json!({
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": resources},
        "variables": [{"name": "may", "expression": may}],
        "validations": validations.collect::<Vec<_>>(),
    });
    let name = format!("reserved-{name}.fabric-admission.dev");
    let binding = json!({"policyName": name, "validationActions": ["Deny"]});
    vec![
        policy_or_binding("ValidatingAdmissionPolicy", &name, BTreeMap::new(), spec),
        policy_or_binding("ValidatingAdmissionPolicyBinding", &name, BTreeMap::new(), binding),
    ]
}
