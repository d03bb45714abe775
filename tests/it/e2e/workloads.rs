//! Workloads of the kinds that their projects' own CRDs describe, through a real API server: kubectl shows the warning,
//! `deny` refuses, and what was there already holds nobody back.

use super::support::plane::Plane;
use super::support::site::{PROFILE_LABEL, Site};
use super::trial;
use crate::support::suite::{Need, Outcome, Suite};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

/// Where the CRDs lie; the trials are added only where they do.
static CRDS: OnceLock<PathBuf> = OnceLock::new();

/// The CRDs that are installed. Of MPIJob there is one version in a cluster.
const FILES: [&str; 5] = [
    "jobset.x-k8s.io_jobsets.yaml",
    "kubeflow.org_mpijobs.v2beta1.yaml",
    "kubeflow.org_pytorchjobs.v1.yaml",
    "leaderworkerset.x-k8s.io_leaderworkersets.yaml",
    "ray.io_rayclusters.yaml",
];

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    let Some(shared) = suite.need(Need::Shared, "e2e::workloads") else { return };
    let _ = CRDS.set(shared.join("crds"));
    trial(suite, assets, "workloads_of_every_kind_are_warned_of_and_refused", every_kind);
    trial(suite, assets, "workloads_are_held_back_by_what_is_new_alone", ratchet);
}

/// Puts the CRDs in place. They are too large for the annotation that `kubectl apply` keeps.
fn install(plane: &Plane) -> Result<(), String> {
    let directory = CRDS.get().ok_or("no CRDs")?;
    for file in FILES {
        let path = directory.join(file).to_string_lossy().into_owned();
        let done = plane.kubectl(&["apply", "--server-side", "-f", &path], "")?;
        if !done.ok {
            return Err(format!("{file}: {}", done.stderr));
        }
    }
    plane.until("the CRDs are served", Duration::from_secs(60), || {
        for kind in ["jobsets", "mpijobs.kubeflow.org", "pytorchjobs", "leaderworkersets", "rayclusters"] {
            if !plane.kubectl(&["get", kind, "-A"], "")?.ok {
                return Ok(false);
            }
        }
        Ok(true)
    })
}

/// A template with or without a fault that FAB401 reports.
fn template(faulty: bool) -> Value {
    let env = if faulty { json!([{"name": "NCCL_IB_DISABLE", "value": "1"}]) } else { json!([]) };
    json!({"metadata": {"annotations": {"fabric-admission.dev/profile": "h100"}}, "spec": {
        "restartPolicy": "Never", "containers": [{
            "name": "trainer", "image": "example.com/t:1", "command": ["all_reduce_perf"], "env": env,
            "resources": {"limits": {"nvidia.com/gpu": "8"}}
        }]
    }})
}

fn always(mut template: Value) -> Value {
    template["spec"].as_object_mut().map(|spec| spec.remove("restartPolicy"));
    template
}

fn head(name: &str) -> Value {
    let mut plain = template(false);
    plain["spec"]["containers"][0]["name"] = json!(name);
    plain["spec"]["containers"][0].as_object_mut().map(|c| c.remove("resources"));
    plain["metadata"] = json!({});
    plain
}

/// Each kind with its template's pointer.
fn kinds(faulty: bool) -> Vec<(&'static str, Value)> {
    let t = || template(faulty);
    let object = |version: &str, kind: &str, spec: Value| json!({"apiVersion": version, "kind": kind, "metadata": {"name": kind.to_lowercase()}, "spec": spec});
    let labelled = || {
        let mut labelled = always(t());
        labelled["metadata"]["labels"] = json!({"app": "x"});
        labelled
    };
    let selector = json!({"matchLabels": {"app": "x"}});
    vec![
        ("/spec/template", object("batch/v1", "Job", json!({"template": t()}))),
        (
            "/spec/jobTemplate/spec/template",
            object(
                "batch/v1",
                "CronJob",
                json!({"schedule": "0 0 1 1 *", "jobTemplate": {"spec": {"template": t()}}}),
            ),
        ),
        (
            "/spec/template",
            object(
                "apps/v1",
                "Deployment",
                json!({"selector": selector, "replicas": 0, "template": labelled()}),
            ),
        ),
        (
            "/spec/template",
            object(
                "apps/v1",
                "StatefulSet",
                json!({"selector": selector, "serviceName": "s", "replicas": 0, "template": labelled()}),
            ),
        ),
        (
            "/spec/replicatedJobs/0/template/spec/template",
            object(
                "jobset.x-k8s.io/v1alpha2",
                "JobSet",
                json!({"replicatedJobs": [{"name": "w", "replicas": 1, "template": {"spec": {"template": t()}}}]}),
            ),
        ),
        (
            "/spec/pytorchReplicaSpecs/Worker/template",
            object(
                "kubeflow.org/v1",
                "PyTorchJob",
                json!({"pytorchReplicaSpecs": {
                    "Master": {"replicas": 1, "template": head("pytorch")},
                    "Worker": {"replicas": 2, "template": always(t())}
                }}),
            ),
        ),
        (
            "/spec/mpiReplicaSpecs/Worker/template",
            object(
                "kubeflow.org/v2beta1",
                "MPIJob",
                json!({"mpiReplicaSpecs": {
                    "Launcher": {"replicas": 1, "template": head("launcher")},
                    "Worker": {"replicas": 2, "template": always(t())}
                }}),
            ),
        ),
        (
            "/spec/workerGroupSpecs/0/template",
            object(
                "ray.io/v1",
                "RayCluster",
                json!({
                    "headGroupSpec": {"rayStartParams": {}, "template": head("ray-head")},
                    "workerGroupSpecs": [{"groupName": "g", "replicas": 1, "minReplicas": 0, "maxReplicas": 2,
                        "rayStartParams": {}, "template": always(t())}]
                }),
            ),
        ),
        (
            "/spec/leaderWorkerTemplate/workerTemplate",
            object(
                "leaderworkerset.x-k8s.io/v1",
                "LeaderWorkerSet",
                json!({"replicas": 1, "leaderWorkerTemplate": {"size": 2, "workerTemplate": always(t())}}),
            ),
        ),
    ]
}

fn every_kind(plane: &Plane) -> Outcome {
    install(plane)?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let mut wrong = Vec::new();
    for setting in ["warn", "deny"] {
        let site = Site::start(plane, &[], &["--workloads", setting])?;
        for (pointer, object) in kinds(true) {
            let done = site.create(&namespace, &object, &["--dry-run=server"])?;
            let kind = &object["kind"];
            let expected = match setting {
                "warn" => format!("Warning: FAB401 {pointer}: NCCL_IB_DISABLE=1"),
                _ => format!("FAB401 {pointer}/spec/containers/0/env/0: NCCL_IB_DISABLE=1"),
            };
            if done.ok != (setting == "warn") || !done.stderr.contains(&expected) {
                wrong.push(format!("{setting} {kind}: expected {expected}: {}", done.stderr));
            }
        }
        for (_, object) in kinds(false) {
            let done = site.create(&namespace, &object, &["--dry-run=server"])?;
            if !done.ok || !done.stderr.contains("fabric-admission will inject networks") {
                wrong.push(format!("{setting} {}: {}", object["kind"], done.stderr));
            }
        }
        let asked = site.requests("workloads")?;
        if asked < 18 {
            wrong.push(format!("{setting}: {asked} requests"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

fn ratchet(plane: &Plane) -> Outcome {
    install(plane)?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let deployment = kinds(true).into_iter().find(|(_, o)| o["kind"] == "Deployment").ok_or("none")?.1;
    let created = plane.kubectl(&["create", "-n", &namespace, "-f", "-"], &deployment.to_string())?;
    assert!(created.ok, "{}", created.stderr);
    let site = Site::start(plane, &[], &["--workloads", "deny"])?;
    let patch = |body: Value| {
        plane.kubectl(
            &["patch", "deployment", "deployment", "-n", &namespace, "--type=json", "-p", &body.to_string()],
            "",
        )
    };
    let container = "/spec/template/spec/containers/0";
    let image =
        patch(json!([{"op": "replace", "path": format!("{container}/image"), "value": "example.com/t:2"}]))?;
    assert!(image.ok && !image.stderr.contains("FAB"), "{}", image.stderr);
    // The old fault moves down by one.
    let first =
        json!([{"op": "add", "path": format!("{container}/env/0"), "value": {"name": "A", "value": "1"}}]);
    let moved = patch(first)?;
    assert!(moved.ok && !moved.stderr.contains("FAB"), "{}", moved.stderr);
    let word = json!({"name": "NCCL_CROSS_NIC", "value": "on"});
    let warned = patch(json!([{"op": "add", "path": format!("{container}/env/0"), "value": word}]))?;
    assert!(warned.ok && warned.stderr.contains("Warning: FAB402"), "{}", warned.stderr);
    assert!(!warned.stderr.contains("FAB401"), "{}", warned.stderr);
    let disabled = json!({"name": "NCCL_IB_DISABLE", "value": "1"});
    let second = json!({"name": "b", "image": "example.com/t:1", "command": ["all_reduce_perf"], "env": [disabled],
        "resources": {"limits": {"nvidia.com/gpu": "8"}}});
    let refused = patch(json!([{"op": "add", "path": "/spec/template/spec/containers/0", "value": second}]))?;
    assert!(!refused.ok && refused.stderr.contains("FAB401"), "{}", refused.stderr);
    // Scale and status are other resources: nobody asks us.
    let before = site.requests("workloads")?;
    let scaled =
        plane.kubectl(&["scale", "deployment", "deployment", "-n", &namespace, "--replicas=1"], "")?;
    assert!(scaled.ok, "{}", scaled.stderr);
    let status = plane.kubectl(
        &[
            "patch",
            "deployment",
            "deployment",
            "-n",
            &namespace,
            "--subresource=status",
            "--type=merge",
            "-p",
            "{\"status\":{\"observedGeneration\":7}}",
        ],
        "",
    )?;
    assert!(status.ok, "{}", status.stderr);
    if plane.has_controllers {
        // A controller creates its ReplicaSet, so no user sees a warning; the refusal is an Event of the Deployment.
        plane.until("the event is there", Duration::from_secs(30), || {
            let events = plane.get(&["events", "-n", &namespace])?.to_string();
            Ok(events.contains("ReplicaSetCreateError") && events.contains("FAB401"))
        })?;
    }
    let labelled = plane.kubectl(&["label", "deployment", "deployment", "-n", &namespace, "a=b"], "")?;
    assert!(labelled.ok && !labelled.stderr.contains("FAB"), "{}", labelled.stderr);
    assert!(site.requests("workloads")? >= before, "requests");
    Ok(())
}
