//! Workloads near the limits of a decision: where a limit ends must not depend on profiles that the namespace may not use, or
//! the answer would reveal them. `docs/security.md` names what remains.

use super::{MINE, snapshot};
use fabric_admission::decision_limits::DecisionLimits;
use fabric_admission::facts::EnforcementMode;
use fabric_admission::review::admission_response::render;
use fabric_admission::review::decide_webhook_request::{
    SnapshotForAudience, WebhookEntry, decide_body_within_deadline,
};
use fabric_admission::snapshot::{Audience, Snapshot};
use serde_json::{Value, json};

/// A profile; `selector` is its node selector.
fn profile(name: &str, namespaces: Option<&str>, selector: Value) -> Value {
    let mut spec = json!({"base": "roce-sriov", "nodeSelector": selector});
    if let Some(team) = namespaces {
        spec["namespaces"] = json!({"matchLabels": {"team": team}});
    }
    json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": {"name": name}, "spec": spec})
}

/// A JobSet with these pods.
fn job_set(pods: impl Iterator<Item = Value>) -> Value {
    let job = |(n, pod): (usize, Value)| json!({"name": format!("j{n}"), "template": {"spec": {"template": {"spec": pod}}}});
    let jobs: Vec<Value> = pods.enumerate().map(job).collect();
    json!({
        "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "j", "namespace": MINE},
        "spec": {"replicatedJobs": jobs},
    })
}

fn container(variables: usize) -> Value {
    let env: Vec<Value> = (0..variables).map(|n| json!({"name": format!("E{n}")})).collect();
    json!({"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "8"}}, "env": env})
}

/// 250 templates that nothing fits, with so many variables: they reach the limit of values that are checked.
fn many_variables(variables: usize) -> Value {
    job_set(
        (0..250).map(
            |n| json!({"nodeSelector": {"nothing": format!("x{n}")}, "containers": [container(variables)]}),
        ),
    )
}

/// Templates whose terms ask for values of a label that may be that of a hidden profile: they reach the limit of lookups.
fn guessed_key(key: &str, values: usize) -> Value {
    job_set((0..2).map(|n| {
        let values: Vec<String> = (0..values).map(|v| format!("r{v}")).collect();
        let term = json!({"matchExpressions": [{"key": key, "operator": "In", "values": values}]});
        let terms = json!({"nodeSelectorTerms": vec![term; 64]});
        let affinity = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}});
        json!({"nodeSelector": {"fabric": "east", "x": n.to_string()}, "affinity": affinity, "containers": [container(0)]})
    }))
}

/// The answer to anyone who asks about a workload in the namespace.
fn answer(object: &Value, snapshot: &Snapshot) -> Result<String, String> {
    let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "u", "operation": "CREATE", "namespace": MINE,
        "kind": {"group": "jobset.x-k8s.io", "version": "v1alpha2", "kind": "JobSet"},
        "resource": {"group": "jobset.x-k8s.io", "version": "v1alpha2", "resource": "jobsets"},
        "userInfo": {"username": "u"}, "object": object,
    }});
    let known = SnapshotForAudience { snapshot, audience: Audience::Anyone };
    let deadline = DecisionLimits::without_clock();
    let entry = WebhookEntry::Workload(EnforcementMode::Enforce);
    let answer = decide_body_within_deadline(&review.to_string().into_bytes(), entry, known, &deadline);
    answer
        .map(|answer| String::from_utf8_lossy(&render(&answer)).into_owned())
        .map_err(|error| error.to_string())
}

/// From which size on the answer is another one, and this answer.
fn limit(
    most: usize,
    workload: &dyn Fn(usize) -> Value,
    snapshot: &Snapshot,
) -> Result<(usize, String), String> {
    let first = answer(&workload(1), snapshot)?;
    let (mut same, mut other) = (1, most);
    while other - same > 1 {
        let middle = usize::midpoint(same, other);
        match answer(&workload(middle), snapshot)? == first {
            true => same = middle,
            false => other = middle,
        }
    }
    Ok((other, answer(&workload(other), snapshot)?))
}

/// Its name, the largest size that is tried, and the workload of a size.
type Shape<'a> = (&'a str, usize, &'a dyn Fn(usize) -> Value);

/// Where the limits of a workload end is the same with and without profiles that the namespace may not use.
pub(super) fn limits_of_hidden_profiles() -> Result<(), String> {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": MINE, "labels": {"team": "mine"}}});
    let own =
        ["east", "west"].map(|fabric| profile(fabric, None, json!({"matchLabels": {"fabric": fabric}})));
    let hidden = (1..=40).map(|n| {
        let racks: Vec<String> = (0..n).map(|v| format!("r{v}")).collect();
        let conditions = json!([
            {"key": "rack", "operator": "In", "values": racks},
            {"key": "fabric", "operator": "In", "values": ["a-secret"]},
        ]);
        profile(&format!("hidden{n}"), Some("nobody"), json!({"matchExpressions": conditions}))
    });
    let nodes = ["east", "west"].map(|fabric| {
        json!({
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": fabric, "labels": {"fabric": fabric}},
            "status": {"allocatable": {"nvidia.com/gpu": "8"}},
        })
    });
    let visible: Vec<Value> = std::iter::once(namespace).chain(own).chain(nodes).collect();
    let without = snapshot(&visible, false);
    let with = snapshot(&visible.into_iter().chain(hidden).collect::<Vec<_>>(), false);
    let key = |key: &'static str| move |values: usize| guessed_key(key, values);
    let shapes: [Shape<'_>; 2] =
        [("variables", 400, &many_variables), ("a label of hidden profiles", 60, &key("rack"))];
    for (what, most, workload) in shapes {
        let (one, other) = (limit(most, workload, &without)?, limit(most, workload, &with)?);
        // A label of hidden profiles only meets no limit at all.
        if one.0 == most && what != "a label of hidden profiles" {
            return Err(format!("{what}: no limit up to {most}, {one:?}"));
        }
        if one != other {
            return Err(format!("{what}: without hidden profiles {one:?}\nwith them {other:?}"));
        }
    }
    Ok(())
}

/// A hint at a misspelt label does not end where profiles that the namespace may not use list many values of this label, or
/// many labels.
pub(super) fn hints_beside_hidden_profiles() -> Result<(), String> {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": MINE, "labels": {"team": "mine"}}});
    let own =
        ["east", "west"].map(|fabric| profile(fabric, None, json!({"matchLabels": {"fabric": fabric}})));
    let values = |n: usize| (0..200).map(|v| format!("a{n}-{v:03}")).collect::<Vec<_>>();
    let hidden = (0..60).map(|n| {
        let mut conditions = vec![json!({"key": "fabric", "operator": "In", "values": values(n)})];
        conditions
            .extend((0..40).map(|k| json!({"key": format!("a-{n}-{k}"), "operator": "In", "values": ["x"]})));
        profile(&format!("hidden{n}"), Some("nobody"), json!({ "matchExpressions": conditions }))
    });
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "cpu", "labels": {"kubernetes.io/os": "linux"}}});
    let visible: Vec<Value> = [namespace, node].into_iter().chain(own).collect();
    let without = snapshot(&visible, false);
    let with = snapshot(&visible.into_iter().chain(hidden).collect::<Vec<_>>(), false);
    // Several templates, which share the limit.
    let pods = (0..20)
        .map(|n| json!({"nodeSelector": {"fabrik": "x", "n": n.to_string()}, "containers": [container(0)]}));
    let object = job_set(pods);
    let (one, other) = (answer(&object, &without)?, answer(&object, &with)?);
    if !one.contains("did you mean label fabric?") {
        return Err(format!("no hint: {one}"));
    }
    if one != other {
        return Err(format!("without hidden profiles {one}\nwith them {other}"));
    }
    Ok(())
}
