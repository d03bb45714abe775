//! `review --live` on a real API server: the same results as with a dump of the cluster, pods of the cluster by name, and an
//! account without rights.

use super::audit::account;
use super::changes_in_a_live_cluster::{Objects, pod};
use super::support::plane::Plane;
use super::trial;
use crate::support::round_trip::same;
use crate::support::suite::{Outcome, Suite};
use crate::support::{Ran, run};
use serde_json::{Value, json};
use std::path::Path;

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "review_of_a_cluster_is_that_of_its_dump", of_dump);
}

fn review(plane: &Plane, args: &[&str]) -> Result<(Ran, Value), String> {
    let ran = run(&[&["review", "-o", "json", "--fail-on", "never"], args].concat(), b"", plane.directory())?;
    let value = serde_json::from_str(&ran.stdout).map_err(|e| format!("{e}: {}", ran.stderr))?;
    Ok((ran, value))
}

fn of_dump(plane: &Plane) -> Outcome {
    let _site = Objects::create(plane)?;
    let namespace = plane.namespace(&[("fabric-admission.dev/mode", "enforce")])?;
    let pods = [("a", "NVIDIA-H100-80GB-HBM3"), ("b", "NVIDIA-H200"), ("c", "NVIDIA-H100-80GB-HBM4")];
    let pods: Vec<Value> = pods
        .into_iter()
        .map(|(name, product)| {
            let mut pod = pod(name, product);
            pod["metadata"]["namespace"] = json!(namespace);
            pod
        })
        .collect();
    let list = json!({"apiVersion": "v1", "kind": "List", "items": pods}).to_string();
    std::fs::write(plane.directory().join("pods.json"), &list).map_err(|e| e.to_string())?;
    let outcome = compared(plane, &namespace, &list);
    let _ = plane.kubectl(&["delete", "namespace", &namespace, "--wait=false"], "");
    outcome
}

fn compared(plane: &Plane, namespace: &str, list: &str) -> Outcome {
    let (ran, live) = review(plane, &["--live", "--kubeconfig", "kubeconfig", "pods.json"])?;
    same(&format!("exit code: {}", ran.stderr), 0, ran.code)?;
    same("stderr", "", &ran.stderr)?;
    let profiles: Vec<Option<&str>> =
        live["results"].as_array().into_iter().flatten().map(|one| one["profile"].as_str()).collect();
    same("profiles", vec![Some("roce"), Some("infiniband"), None], profiles)?;
    let kinds = "ns,nodes,fprof,network-attachment-definitions";
    let dump = plane.kubectl(&["get", kinds, "-A", "-o", "json"], "")?;
    std::fs::write(plane.directory().join("dump.json"), &dump.stdout).map_err(|e| e.to_string())?;
    let (_, files) = review(plane, &["--cluster", "dump.json", "pods.json"])?;
    same("results", &files["results"], &live["results"])?;
    // The pod of the cluster by its name. No webhook is there: it runs as its author wrote it, and would be changed.
    plane.apply(list)?;
    let named = ["--live", "--kubeconfig", "kubeconfig", "-n", namespace, "pod/a"];
    let (ran, of_pod) = review(plane, &named)?;
    same(&format!("exit code of pod/a: {}", ran.stderr), 0, ran.code)?;
    let [file, stored] = [&live, &of_pod].map(|of| &of["results"][0]);
    for key in ["profile", "verdict"] {
        same(&format!("{key} of pod/a"), &file[key], &stored[key])?;
    }
    // The API server has mounted a token and written requests, so places in lists differ, and requests are raised too.
    let [file, changes] = [file, stored].map(|of| {
        let all = of["changes"].as_array().into_iter().flatten();
        let summaries = all.filter_map(|change| change["summary"].as_str());
        summaries.filter(|text| !text.starts_with("requests: ")).collect::<Vec<_>>()
    });
    same("changes of pod/a", &file, &changes)?;
    assert!(!changes.is_empty(), "{stored}");
    without_rights(plane)
}

/// An account that reads only namespaces: it gets a warning for each other kind, and nothing is decided by their absence.
fn without_rights(plane: &Plane) -> Outcome {
    plane.apply(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: reviewer}\nrules:\n- {apiGroups: [''], \
         resources: [namespaces], verbs: [get, list]}\n",
    )?;
    let reviewer = account(plane, "reviewer", "reviewer")?;
    let (ran, value) = review(plane, &["--live", "--kubeconfig", &reviewer, "pods.json"])?;
    for kind in ["Node", "FabricProfile", "NetworkAttachmentDefinition"] {
        let warning = format!("warning: --live: no permission to read {kind}");
        assert!(ran.stderr.contains(&warning), "{warning}: {}", ran.stderr);
    }
    same("exit code", 2, ran.code)?;
    same("partial", &json!(true), &value["summary"]["partial"])?;
    let results = value["results"].as_array().ok_or("no results")?;
    assert!(results.iter().all(|one| one["verdict"] == "allow" && one["profile"].is_null()), "{value}");
    Ok(())
}
