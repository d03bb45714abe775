//! A workload's template and the pods that its controller makes of it get one profile: whatever the order of the profiles,
//! and with pools at zero as with nodes. While nodes are only added, the profile stays the same or becomes none
//! (docs/adr/0009, docs/adr/0020).

use super::one_profile_for_all_ranks::{World, case, node, server};
use crate::support::generated_documents::{Dice, Documents, put};
use crate::support::run_property::check;
use crate::support::suite::Suite;
use fabric_admission::decision_limits::NEVER;
use fabric_admission::facts::EnforcementMode;
use fabric_admission::review::{PodRequest, Stage, WorkloadRequest, decide_pod, decide_workload};
use fabric_admission::snapshot::{Ambiguity, Snapshot};
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::BTreeSet;

pub(crate) fn add(suite: &mut Suite) {
    suite.add("template_and_its_pods::a_template_and_its_pods_get_one_profile", || {
        let counts = [const { Cell::new(0) }; 3];
        let name = "template_and_its_pods::a_template_and_its_pods_get_one_profile";
        check(name, 150, Documents(workload), |case| one_profile(&case.0, &counts))?;
        // Answers with a profile: without a node, with nodes, and after one.
        let counts = counts.map(Cell::into_inner);
        if counts.iter().all(|n| *n >= 20) { Ok(()) } else { Err(format!("reached {counts:?}").into()) }
    });
}

/// A case of the gang's, whose pod is made by a workload, and of whose profiles some are for jobs of several nodes.
fn workload(dice: &mut Dice<'_>) -> Value {
    let mut case = case(dice);
    for profile in case["profiles"].as_array_mut().into_iter().flatten() {
        put(&mut profile["spec"], "when", 30, dice, |_| json!({"multiNode": "required"}));
    }
    put(&mut case, "kind", 60, dice, |_| "PyTorchJob".into());
    // A template is known by its image.
    case["pod"]["spec"]["containers"][0]["image"] = "registry.example.com/trainer:2.7".into();
    case["pods"] = (2 + dice.below(3)).into();
    case
}

/// The object, and a pod as its controller makes it.
fn made(case: &Value) -> (&'static str, &'static str, Value, Value) {
    let (spec, pods) = (&case["pod"]["spec"], &case["pods"]);
    let mut pod = case["pod"].clone();
    pod["metadata"] = json!({"name": "job-1", "namespace": "team"});
    let metadata = json!({"name": "job", "namespace": "team"});
    if case["kind"] == "PyTorchJob" {
        pod["metadata"]["labels"] = json!({
            "training.kubeflow.org/job-name": "job", "training.kubeflow.org/replica-type": "worker",
            "training.kubeflow.org/replica-index": "1", "training.kubeflow.org/operator-name": "pytorchjob-controller",
        });
        pod["metadata"]["ownerReferences"] = json!([{"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": "job", "uid": "1", "controller": true}]);
        let replicas = json!({"Worker": {"replicas": pods, "template": {"spec": spec}}});
        let object = json!({"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": metadata,
            "spec": {"pytorchReplicaSpecs": replicas}});
        return ("kubeflow.org", "PyTorchJob", object, pod);
    }
    pod["metadata"]["labels"] =
        json!({"batch.kubernetes.io/job-name": "job", "batch.kubernetes.io/job-completion-index": "1"});
    pod["metadata"]["annotations"] = json!({"batch.kubernetes.io/job-completion-index": "1"});
    pod["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "batch/v1", "kind": "Job", "name": "job", "uid": "1", "controller": true}]);
    pod["spec"]["hostname"] = "job-1".into();
    let object = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {
        "completionMode": "Indexed", "completions": pods, "parallelism": pods, "template": {"spec": spec}}});
    ("batch", "Job", object, pod)
}

/// The profiles of the template and of the pod; `None` for what shrinking has made unreadable.
fn profiles(case: &Value, snapshot: &Snapshot) -> Option<[Option<String>; 2]> {
    let (group, kind, object, pod) = made(case);
    let (object, pod) = (object.to_string(), pod.to_string());
    let request = WorkloadRequest {
        group,
        kind,
        json: &object,
        namespace: "team",
        mode: EnforcementMode::Enforce,
        opted_in: true,
        profile: None,
        as_if_running: false,
        deadline: &NEVER,
    };
    let decided = decide_workload(request, snapshot);
    let (_, template) = decided.templates.into_iter().next()?;
    let request = PodRequest { stage: Stage::Mutate, ..PodRequest::in_enforcing_namespace("team") };
    Some([template.ok()?.profile, decide_pod(&pod, request, snapshot).ok()?.profile])
}

fn one_profile(case: &Value, counts: &[Cell<usize>; 3]) -> Result<(), String> {
    let kinds = case["kinds"].as_array().cloned().unwrap_or_default();
    // Shrinking gives two profiles one name, and then the last one counts.
    let names = case["profiles"].as_array().into_iter().flatten().map(|p| p["metadata"]["name"].to_string());
    let names: Vec<String> = names.collect();
    if names.iter().collect::<BTreeSet<_>>().len() < names.len() {
        return Ok(());
    }
    let mut turned = case.clone();
    if let Some(profiles) = turned["profiles"].as_array_mut() {
        profiles.reverse();
    }
    let mut first: Option<String> = None;
    // None, one for no training pod, then one kind after another.
    for count in 0..kinds.len() + 2 {
        let grown = kinds.iter().take(count.saturating_sub(1)).enumerate();
        let grown = grown.map(|(i, kind)| node(&format!("n{i}"), kind, false));
        let nodes = std::iter::once(server()).chain(grown).take(count);
        let nodes =
            nodes.map(|n| (n["metadata"]["name"].as_str().unwrap_or_default().to_owned(), n)).collect();
        let world = World { case, ambiguity: Ambiguity::Deny, nodes };
        let other = World { case: &turned, ambiguity: Ambiguity::Deny, nodes: world.nodes.clone() };
        let (Some(found), Some(others)) =
            (profiles(case, &world.snapshot()), profiles(case, &other.snapshot()))
        else {
            return Ok(());
        };
        let [template, pod] = &found;
        if template != pod || found != others {
            return Err(format!("with {count} nodes: template {template:?}, pod {pod:?}; turned {others:?}"));
        }
        let Some(profile) = pod else { continue };
        // A cluster has a node; a review without facts has the namespace's default instead.
        if count == 0 {
            counts[0].set(counts[0].get() + 1);
            continue;
        }
        match &first {
            Some(known) if known != profile => {
                return Err(format!("{known}, then {profile} with {count} nodes"));
            }
            Some(_) => counts[2].set(counts[2].get() + 1),
            None => first = Some(profile.clone()),
        }
        counts[1].set(counts[1].get() + 1);
    }
    Ok(())
}
