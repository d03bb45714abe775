//! `rules export --group`: who may make a namespace ours, and name a profile.

use super::support::plane::{Kubectl, Plane};
use super::support::policies::Policies;
use super::trial;
use crate::support::suite::{Outcome, Suite};
use serde_json::json;
use std::path::Path;

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "reserved_words_are_kept_to_a_group", reserved);
}

const TENANT: [&str; 3] = ["--as=ada", "--as-group=tenants", "--as-group=system:authenticated"];
const OPERATOR: [&str; 3] = ["--as=olaf", "--as-group=platform", "--as-group=system:authenticated"];
const CONTROLLER: [&str; 3] = [
    "--as=system:serviceaccount:kube-system:replicaset-controller",
    "--as-group=system:serviceaccounts:kube-system",
    "--as-group=system:authenticated",
];
const MODE: &str = "fabric-admission.dev/mode";
const PROFILE: &str = "fabric-admission.dev/profile";

fn reserved(plane: &Plane) -> Outcome {
    // Both may do everything, as far as RBAC goes.
    plane.apply(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: e2e-reserved}\n\
         roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}\n\
         subjects:\n- {kind: Group, apiGroup: rbac.authorization.k8s.io, name: tenants}\n\
         - {kind: Group, apiGroup: rbac.authorization.k8s.io, name: platform}\n\
         - {kind: Group, apiGroup: rbac.authorization.k8s.io, name: 'system:serviceaccounts:kube-system'}\n",
    )?;
    let namespace = plane.namespace(&[])?;
    let policies = Policies::apply(plane, &["--rule", "FAB301", "--group", "platform", "--group", "it's"])?;
    let ask = |who: &[&str], args: &[&str], input: &str| plane.kubectl(&[args, who].concat(), input);
    let label = |who: &[&str], value: &str| {
        ask(who, &["label", "ns", &namespace, &format!("{MODE}{value}"), "--overwrite"], "")
    };
    let named = |kind: &str, api: &str, annotated: bool| {
        let annotations = if annotated { json!({PROFILE: "p0"}) } else { json!({"a": "b"}) };
        let spec =
            json!({"restartPolicy": "Never", "containers": [{"name": "c", "image": "example.com/c:1"}]});
        let metadata = json!({"name": kind.to_lowercase(), "namespace": namespace});
        let template = json!({"metadata": {"annotations": annotations, "labels": {"a": "b"}}, "spec": spec});
        let spec = match kind {
            "Pod" => {
                let mut pod = json!({"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec});
                pod["metadata"]["annotations"] = annotations;
                return pod.to_string();
            }
            "CronJob" => json!({"schedule": "0 0 * * *", "jobTemplate": {"spec": {"template": template}}}),
            "Deployment" => {
                let mut template = template;
                template["spec"]["restartPolicy"] = "Always".into();
                json!({"selector": {"matchLabels": {"a": "b"}}, "template": template})
            }
            _ => json!({"template": template}),
        };
        json!({"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec}).to_string()
    };
    let create = ["create", "--dry-run=server", "-f", "-"];
    let refused = |done: &Kubectl| !done.ok && done.stderr.contains("only by members of: platform, it's");
    // As a dry run: what a policy let through before it was in force would be no change afterwards.
    let dry = ["label", "ns", &namespace, &format!("{MODE}=enforce"), "--dry-run=server"];
    policies.until("a tenant may not label the namespace", || Ok(refused(&ask(&TENANT, &dry, "")?)))?;
    let kinds = [("Pod", "v1"), ("Job", "batch/v1"), ("CronJob", "batch/v1"), ("Deployment", "apps/v1")];
    for (kind, api) in kinds {
        policies.until(&format!("a tenant may not name a profile on a {kind}"), || {
            Ok(refused(&ask(&TENANT, &create, &named(kind, api, true))?))
        })?;
        for (who, annotated) in [(&TENANT[..], false), (&OPERATOR[..], true), (&CONTROLLER[..], true)] {
            let done = ask(who, &create, &named(kind, api, annotated))?;
            assert!(done.ok, "{kind} by {who:?}: {}", done.stderr);
        }
    }
    // Everything else about a namespace is as before, and what is there may be neither changed nor taken away.
    let done = ask(&TENANT, &["label", "ns", &namespace, "team=a"], "")?;
    assert!(done.ok, "{}", done.stderr);
    let done = label(&OPERATOR, "=audit")?;
    assert!(done.ok, "{}", done.stderr);
    for value in ["=enforce", "-"] {
        let done = label(&TENANT, value)?;
        assert!(refused(&done) && done.stderr.contains("ada is not a member"), "{}", done.stderr);
        let done = label(&CONTROLLER, value)?;
        assert!(refused(&done), "controllers do not set it: {}", done.stderr);
    }
    let done = ask(&TENANT, &["label", "ns", &namespace, "team=b", "--overwrite"], "")?;
    assert!(done.ok, "{}", done.stderr);
    let done = ask(&TENANT, &["annotate", "ns", &namespace, &format!("{PROFILE}=p1")], "")?;
    assert!(refused(&done), "{}", done.stderr);
    // The API server keeps changes of metadata that come with a status or with finalizers.
    let patch = json!({"metadata": {"labels": {MODE: "enforce"}}}).to_string();
    let done =
        ask(&TENANT, &["patch", "ns", &namespace, "--subresource=status", "--type=merge", "-p", &patch], "")?;
    assert!(refused(&done), "by its status: {}", done.stderr);
    let stored = plane.kubectl(&["get", "ns", &namespace, "-o", "json"], "")?;
    let mut finalized: serde_json::Value = serde_json::from_str(&stored.stdout).map_err(|e| e.to_string())?;
    if let Some(labels) = finalized["metadata"]["labels"].as_object_mut() {
        labels.remove(MODE);
    }
    let path = format!("/api/v1/namespaces/{namespace}/finalize");
    let done = ask(&TENANT, &["replace", "--raw", &path, "-f", "-"], &finalized.to_string())?;
    assert!(refused(&done), "by its finalizers: {}", done.stderr);
    let labelled = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "e2e-new", "labels": {MODE: "enforce"}}});
    let done = ask(&TENANT, &create, &labelled.to_string())?;
    assert!(refused(&done), "{}", done.stderr);
    let done = label(&OPERATOR, "-")?;
    assert!(done.ok, "{}", done.stderr);
    // A namespace of a tenant goes whatever it is called.
    let done = ask(&TENANT, &["delete", "ns", &namespace, "--wait=false"], "")?;
    assert!(done.ok, "{}", done.stderr);
    Ok(())
}
