//! Pods that controllers make.

use super::support::plane::Plane;
use super::support::site::{PROFILE_LABEL, Site, assert_fitted, training_pod};
use super::trial;
use crate::support::suite::{Outcome, Suite};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    if !assets.join("kube-controller-manager").is_file() {
        suite.missing("no kube-controller-manager; set KUBEBUILDER_ASSETS", "e2e::pods_of_controllers");
        return;
    }
    trial(suite, assets, "pods_of_a_job_are_fitted", job);
    trial(suite, assets, "pods_of_a_stateful_set_are_fitted", stateful_set);
    trial(suite, assets, "a_denied_pod_of_a_job_is_an_event", denied);
}

fn template() -> Value {
    let pod = training_pod("x");
    json!({"metadata": {"annotations": pod["metadata"]["annotations"], "labels": {"app": "x"}}, "spec": pod["spec"]})
}

fn pods(plane: &Plane, namespace: &str, count: usize) -> Result<Vec<Value>, String> {
    let mut pods = Vec::new();
    plane.until("the pods are there", Duration::from_secs(20), || {
        pods = plane.get(&["pods", "-n", namespace])?["items"].as_array().cloned().unwrap_or_default();
        Ok(pods.len() >= count)
    })?;
    Ok(pods)
}

fn job(plane: &Plane) -> Outcome {
    let site = Site::start(plane, &[], &[])?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let mut template = template();
    template["spec"]["restartPolicy"] = json!("Never");
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"},
        "spec": {"completions": 2, "parallelism": 2, "completionMode": "Indexed", "template": template}});
    let done = site.create(&namespace, &job, &[])?;
    assert!(done.ok, "{}", done.stderr);
    for pod in pods(plane, &namespace, 2)? {
        assert_fitted(&pod);
    }
    Ok(())
}

fn stateful_set(plane: &Plane) -> Outcome {
    let site = Site::start(plane, &[], &[])?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let set = json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "s"},
        "spec": {"serviceName": "s", "replicas": 1, "selector": {"matchLabels": {"app": "x"}}, "template": template()}});
    assert!(site.create(&namespace, &set, &[])?.ok);
    for pod in pods(plane, &namespace, 1)? {
        assert_fitted(&pod);
    }
    Ok(())
}

fn denied(plane: &Plane) -> Outcome {
    let site = Site::start(plane, &[], &[])?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let mut template = template();
    template["spec"]["restartPolicy"] = json!("Never");
    template["metadata"]["annotations"]["fabric-admission.dev/profile"] = json!("nope");
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"template": template}});
    assert!(site.create(&namespace, &job, &[])?.ok);
    plane.until("the event is there", Duration::from_secs(20), || {
        let events = plane.get(&["events", "-n", &namespace])?.to_string();
        Ok(events.contains("FailedCreate") && events.contains("FAB804 profile"))
    })?;
    assert!(pods(plane, &namespace, 0)?.is_empty());
    Ok(())
}
