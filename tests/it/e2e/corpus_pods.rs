//! The corpus through the real API server: each pod, and each pod template as the pod that a controller makes of it,
//! under each kind of fabric. What the API server takes without us it takes with us, and stores what the offline
//! review of the same files shows.

use super::support::creates::each;
use super::support::engine::Engine;
use super::support::fabrics::{FABRICS, Fabrics};
use super::support::plane::Plane;
use super::support::with_and_without_webhook::{Fate, Review, fate};
use super::trial;
use crate::support::names;
use crate::support::round_trip::{documents, review};
use crate::support::suite::{Need, Outcome, Suite};
use fabric_admission::pod::templates_by_shape;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What authors left for others to fill in, with a value that fits. Longer words first.
const PLACEHOLDERS: &[(&str, &str)] = &[
    ("PLACEHOLDER_NUM_GPU_PER_NODE", "8"),
    ("PLACEHOLDER_NUM_EFA_PER_NODE", "4"),
    ("PLACEHOLDER_NUM_NODES", "2"),
    ("PLACEHOLDER_INSTANCE_TYPE", "p4d.24xlarge"),
    ("PLACEHOLDER_", "filled-"),
    ("__NUM_NODES__", "2"),
    ("$GPU_PER_NODE", "8"),
    ("$EFA_PER_NODE", "4"),
    ("$NUM_NODES", "2"),
    ("V_KSA", "trainer"),
    ("${IMAGE_URI}", "example.com/trainer:1"),
];

/// Pods that our own rules deny although their author's file has no fault that a placeholder hides: file, rules.
const DENIED: &[(&str, &[&str])] = &[];

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    let Some(shared) = suite.need(Need::Shared, "e2e::corpus") else { return };
    drop(shared);
    trial(suite, assets, "no_pod_of_the_corpus_is_refused_because_of_us", corpus);
}

/// A pod and the file it is from.
#[derive(Debug, Clone)]
struct Sample {
    file: String,
    pod: Value,
}

fn directory() -> Result<PathBuf, String> {
    Ok(Need::Shared.find().ok_or("no shared data")?.join("corpus"))
}

/// The text with every placeholder filled in.
fn filled(text: &str) -> String {
    PLACEHOLDERS.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

fn samples() -> Result<Vec<Sample>, String> {
    let directory = directory()?;
    let mut samples = Vec::new();
    for file in names(&directory).into_iter().filter(|n| n.ends_with(".yaml")) {
        let text = std::fs::read_to_string(directory.join(&file)).map_err(|e| e.to_string())?;
        for (_, document) in documents(filled(&text).as_bytes()) {
            let items = match document["kind"].as_str() {
                Some("List") => document["items"].as_array().cloned().unwrap_or_default(),
                _ => vec![document],
            };
            for object in items {
                samples.extend(pods(&object).into_iter().map(|pod| Sample { file: file.clone(), pod }));
            }
        }
    }
    Ok(samples)
}

/// The pods of the corpus; none where the corpus is not here.
pub(super) fn corpus_samples() -> Result<Vec<Value>, String> {
    match Need::Shared.find() {
        Some(_) => Ok(samples()?.into_iter().map(|sample| sample.pod).collect()),
        None => Ok(Vec::new()),
    }
}

/// The pods that an object is or that its controller makes.
fn pods(object: &Value) -> Vec<Value> {
    if object["kind"] == "Pod" && object["apiVersion"] == "v1" {
        let mut pod = object.clone();
        pod["metadata"].as_object_mut().map(|m| m.remove("namespace"));
        return vec![pod];
    }
    let text = object.to_string();
    templates_by_shape::find_templates(&text)
        .iter()
        .filter_map(|found| made(object, &serde_json::from_str(found.json).ok()?))
        .collect()
}

/// A pod of a template, as controllers make them: labels and annotations are the template's, the name is chosen by
/// the API server, and an owner is there (k8s.io/kubernetes pkg/controller/controller_utils.go, GetPodFromTemplate).
fn made(object: &Value, template: &Value) -> Option<Value> {
    let mut metadata = json!({"generateName": "corpus-", "ownerReferences": [{"apiVersion": object["apiVersion"],
        "kind": object["kind"], "name": "owner", "uid": "1", "controller": true, "blockOwnerDeletion": true}]});
    for key in ["labels", "annotations", "finalizers"] {
        if let Some(value) = template["metadata"].get(key) {
            metadata[key] = value.clone();
        }
    }
    let mut spec = template["spec"].clone();
    // A StatefulSet's claims become volumes (pkg/controller/statefulset/stateful_set_utils.go, updateStorage).
    for claim in object["spec"]["volumeClaimTemplates"].as_array().into_iter().flatten() {
        let volume =
            json!({"name": claim["metadata"]["name"], "persistentVolumeClaim": {"claimName": "claim"}});
        match spec["volumes"].as_array_mut() {
            Some(volumes) => volumes.push(volume),
            None => spec["volumes"] = json!([volume]),
        }
    }
    spec.is_object().then(|| json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}))
}

/// The sample with accelerators on its first container, where no container has any.
fn accelerated(sample: &Sample) -> Option<Sample> {
    let mut sample = sample.clone();
    let containers = sample.pod["spec"]["containers"].as_array_mut()?;
    let is_accelerator = |name: &String| name.contains("gpu") || name.contains("neuron");
    let has = |c: &Value| c["resources"]["limits"].as_object().is_some_and(|l| l.keys().any(is_accelerator));
    if containers.iter().any(has) {
        return None;
    }
    let resources = &mut containers.first_mut()?["resources"];
    for list in ["limits", "requests"] {
        if list == "limits" || resources[list].is_object() {
            resources[list]["nvidia.com/gpu"] = 8.into();
        }
    }
    Some(sample)
}

/// Figures of one fabric.
#[derive(Debug, Default)]
struct Row {
    pods: usize,
    patched: usize,
    unchanged: usize,
    refused_bare: usize,
    denied: usize,
}

fn corpus(plane: &Plane) -> Outcome {
    let samples = samples()?;
    let accounts: BTreeSet<&str> = samples
        .iter()
        .filter_map(|s| {
            s.pod["spec"]["serviceAccountName"].as_str().or(s.pod["spec"]["serviceAccount"].as_str())
        })
        .filter(|name| *name != "default")
        .collect();
    let fabrics = Fabrics::start(plane, &accounts.into_iter().collect::<Vec<_>>())?;
    let engine = Engine::new(&fabrics)?;
    let pair = &fabrics.pairs[0];
    let scratch = fabrics.site.server.scratch.path();
    let cli = |pods: &[Value]| -> Result<Vec<Review>, String> {
        let list = json!({"apiVersion": "v1", "kind": "List", "items": pods}).to_string();
        let args = ["--profiles", "profiles.yaml", "--cluster", "cluster", "--namespace", &pair.asked, "-"];
        let reviewed = review(&args.map(str::to_owned), list.as_bytes(), scratch)?;
        let results = reviewed.results().iter().map(|result| {
            let findings = result["findings"].as_array().into_iter().flatten();
            let errors = findings.filter(|f| f["severity"] == "error").filter_map(|f| f["rule"].as_str());
            Review { denies: errors.map(str::to_owned).collect(), patch: result["patch"].clone() }
        });
        let results: Vec<Review> = results.collect();
        if results.len() == pods.len() {
            Ok(results)
        } else {
            Err(format!("{} reviews: {:?}", results.len(), reviewed.ran))
        }
    };
    let mut problems = Vec::new();
    let mut table = String::from("fabric | pods | refused bare | patched | unchanged | denied by us\n");
    let mut bare: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut denied: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for fabric in std::iter::once(None).chain(FABRICS.iter().map(|(name, _)| Some(*name))) {
        let mut pods: Vec<Sample> = samples.clone();
        // A file whose pod asks for no accelerators meets every kind of change all the same.
        pods.extend(samples.iter().filter(|_| fabric.is_some()).filter_map(accelerated));
        for sample in &mut pods {
            if let Some(fabric) = fabric {
                let annotations = &mut sample.pod["metadata"]["annotations"];
                let mut own = annotations.as_object().cloned().unwrap_or_default();
                own.insert("fabric-admission.dev/profile".into(), fabric.into());
                *annotations = Value::Object(own);
            }
        }
        let offline = cli(&pods.iter().map(|s| s.pod.clone()).collect::<Vec<_>>())?;
        let reviewed: Vec<(&Sample, Review)> = pods.iter().zip(offline).collect();
        let fates = each(plane, &reviewed, |api, (sample, offline)| {
            fate(api, pair, &sample.pod, &|_| Ok(offline.clone()), &|pod| engine.review(0, pod))
        });
        let mut row = Row { pods: pods.len(), ..Row::default() };
        for (sample, fate) in pods.iter().zip(fates) {
            match fate {
                Ok(Fate::Patched(_)) => row.patched += 1,
                Ok(Fate::Unchanged) => row.unchanged += 1,
                Ok(Fate::RefusedBare(why)) => {
                    row.refused_bare += 1;
                    *bare.entry((sample.file.clone(), why)).or_default() += 1;
                }
                Ok(Fate::Denied(rules)) => {
                    row.denied += 1;
                    denied.entry(sample.file.clone()).or_default().extend(rules);
                }
                Err(error) => problems.push(format!("{} under {fabric:?}: {error}", sample.file)),
            }
        }
        table += &format!(
            "{} | {} | {} | {} | {} | {}\n",
            fabric.unwrap_or("none named"),
            row.pods,
            row.refused_bare,
            row.patched,
            row.unchanged,
            row.denied
        );
    }
    let files: BTreeSet<&str> = samples.iter().map(|s| s.file.as_str()).collect();
    eprintln!("{} files with pods\n{table}", files.len());
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    let expected: BTreeMap<String, BTreeSet<String>> = DENIED
        .iter()
        .map(|(file, rules)| ((*file).to_owned(), rules.iter().map(|r| (*r).to_owned()).collect()))
        .collect();
    assert_eq!(expected, denied, "files that our own rules deny");
    assert!(bare.is_empty(), "refused without us: {bare:#?}");
    Ok(())
}
