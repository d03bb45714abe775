//! The containers that a profile adds to pods, through a real API server: every golden variant is stored with them, and a
//! Job whose pod has them completes.

use super::support::plane::Plane;
use super::support::site::{PROFILE_LABEL, Site};
use super::trial;
use crate::engine::golden::cases;
use crate::support::names;
use crate::support::round_trip::documents;
use crate::support::suite::{Outcome, Suite};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "every_variant_of_containers_in_the_pod_is_stored", every_variant);
    if assets.join("kube-controller-manager").is_file() {
        trial(suite, assets, "a_job_with_containers_in_the_pod_completes", job);
    }
}

/// A golden case: its profile under its own name, its further facts and its pods, in a namespace.
struct Variant {
    name: String,
    profile: Value,
    facts: Vec<Value>,
    pods: Vec<Value>,
    namespace: String,
}

fn variants(plane: &Plane) -> Result<Vec<Variant>, String> {
    let mut all = Vec::new();
    for name in names(&cases()).into_iter().filter(|n| n.starts_with("in-the-pod-")) {
        let read = |file: &str| {
            let text = std::fs::read(cases().join(&name).join(file)).map_err(|e| e.to_string())?;
            Ok::<Vec<Value>, String>(documents(&text).into_iter().map(|(_, d)| d).collect())
        };
        let (profiles, rest): (Vec<Value>, Vec<Value>) =
            read("cluster.yaml")?.into_iter().partition(|d| d["kind"] == "FabricProfile");
        let level = if name.ends_with("-restricted") { "restricted" } else { "privileged" };
        let namespace = plane.namespace(&[PROFILE_LABEL, ("pod-security.kubernetes.io/enforce", level)])?;
        let mut profile = profiles.into_iter().next().ok_or("no profile")?;
        profile["metadata"]["name"] = json!(name);
        let mut facts: Vec<Value> = rest.into_iter().filter(|d| d["kind"] != "Namespace").collect();
        for fact in &mut facts {
            if fact["metadata"]["namespace"].is_string() {
                fact["metadata"]["namespace"] = json!(namespace);
            }
        }
        let mut pods = Vec::new();
        for object in read("input.yaml")? {
            let mut pod = match object.pointer("/spec/mpiReplicaSpecs/Worker/template") {
                Some(template) => json!({"metadata": template["metadata"], "spec": template["spec"]}),
                None => object.clone(),
            };
            (pod["apiVersion"], pod["kind"]) = (json!("v1"), json!("Pod"));
            pod["metadata"]["name"] = object["metadata"]["name"].clone();
            pod["metadata"].as_object_mut().map(|m| m.remove("namespace"));
            pod["metadata"]["annotations"]["fabric-admission.dev/profile"] = json!(name);
            // Pod Security refuses this pod with and without the webhook.
            let refused = level == "restricted" && pod["metadata"]["name"] == "root";
            // The pod has a container with the name of our container.
            if !refused && pod["metadata"]["name"] != "taken" {
                pods.push(pod);
            }
        }
        all.push(Variant { name, profile, facts, pods, namespace });
    }
    Ok(all)
}

fn start<'a>(plane: &'a Plane, variants: &[Variant]) -> Result<Site<'a>, String> {
    let profiles: Vec<String> = variants.iter().map(|v| v.profile.to_string()).collect();
    let facts: Vec<&Value> = variants.iter().flat_map(|v| &v.facts).collect();
    let facts = json!({"apiVersion": "v1", "kind": "List", "items": facts}).to_string();
    let files = [("profiles.yaml", profiles.join("\n---\n")), ("cluster/facts.json", facts)];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    Site::start(plane, &files, &["--cluster", "cluster"])
}

fn ours(pod: &Value) -> Vec<&Value> {
    let all = pod["spec"]["initContainers"].as_array().into_iter().flatten();
    all.filter(|c| c["name"].as_str().is_some_and(|n| n.starts_with("fabric-"))).collect()
}

fn every_variant(plane: &Plane) -> Outcome {
    let variants = variants(plane)?;
    assert!(variants.len() >= 11, "{} variants", variants.len());
    let site = start(plane, &variants)?;
    let mut stored_pods = 0;
    for variant in &variants {
        for pod in &variant.pods {
            let what = format!("{} {}", variant.name, pod["metadata"]["name"]);
            let done = site.create(&variant.namespace, pod, &["-o", "json"])?;
            assert!(done.ok, "{what}: {}", done.stderr);
            let stored: Value = serde_json::from_str(&done.stdout).map_err(|e| e.to_string())?;
            let containers = ours(&stored);
            let has_preflight = variant.profile["spec"]["preflight"].is_object();
            let wanted = if has_preflight { "fabric-preflight" } else { "fabric-monitor" };
            assert!(containers.iter().any(|c| c["name"] == wanted), "{what}: {stored:#}");
            for container in containers.iter().filter(|c| c["name"] != "fabric-preflight") {
                let mounts = container["volumeMounts"].as_array().into_iter().flatten();
                let mut names = mounts.filter_map(|m| m["name"].as_str());
                assert!(!names.any(|n| n.starts_with("kube-api-access")), "{what}: a token in {container:#}");
            }
            // Quality of service is the pod's own.
            let plain = plane.namespace(&[])?;
            let without = site.create(&plain, pod, &["-o", "json"])?;
            if without.ok {
                let without: Value = serde_json::from_str(&without.stdout).map_err(|e| e.to_string())?;
                assert_eq!(without["status"]["qosClass"], stored["status"]["qosClass"], "{what}");
            }
            // A pod that is made from the dump is stored as it is.
            let mut again = stored.clone();
            again["metadata"] = json!({
                "name": format!("{}-again", pod["metadata"]["name"].as_str().unwrap_or_default()),
                "annotations": stored["metadata"]["annotations"],
            });
            again.as_object_mut().map(|o| o.remove("status"));
            let done = site.create(&variant.namespace, &again, &["--dry-run=server", "-o", "json"])?;
            assert!(done.ok, "{what}: {}", done.stderr);
            let twice: Value = serde_json::from_str(&done.stdout).map_err(|e| e.to_string())?;
            assert_eq!(twice["spec"]["initContainers"], stored["spec"]["initContainers"], "{what}");
            assert_eq!(twice["spec"]["volumes"], stored["spec"]["volumes"], "{what}");
            stored_pods += 1;
        }
    }
    eprintln!("{stored_pods} pods of {} variants were stored", variants.len());
    Ok(())
}

/// The sidecar does not hold the Job open: the controller counts the phase of the pod.
fn job(plane: &Plane) -> Outcome {
    let variants: Vec<Variant> =
        variants(plane)?.into_iter().filter(|v| v.name == "in-the-pod-roce").collect();
    let site = start(plane, &variants)?;
    let variant = variants.first().ok_or("no variant")?;
    let mut template = json!({"metadata": variant.pods[1]["metadata"], "spec": variant.pods[1]["spec"]});
    template["metadata"].as_object_mut().map(|m| m.remove("name"));
    template["spec"]["restartPolicy"] = json!("Never");
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"template": template}});
    let done = site.create(&variant.namespace, &job, &[])?;
    assert!(done.ok, "{}", done.stderr);
    let mut pods = Vec::new();
    plane.until("the pod is there", Duration::from_secs(20), || {
        let list = plane.get(&["pods", "-n", &variant.namespace])?;
        pods = list["items"].as_array().cloned().unwrap_or_default();
        Ok(!pods.is_empty())
    })?;
    let names: Vec<&str> = ours(&pods[0]).into_iter().filter_map(|c| c["name"].as_str()).collect();
    assert_eq!(names, ["fabric-install", "fabric-preflight", "fabric-monitor"]);
    let ended = |list: &str| -> Vec<Value> {
        let containers = pods[0]["spec"][list].as_array().into_iter().flatten();
        let state = json!({"terminated": {"exitCode": 0, "reason": "Completed"}});
        let status = |c: &Value| json!({"name": c["name"], "image": c["image"], "imageID": "", "ready": false, "restartCount": 0, "state": state});
        containers.map(status).collect()
    };
    let status = json!({"status": {
        "phase": "Succeeded", "containerStatuses": ended("containers"), "initContainerStatuses": ended("initContainers"),
    }});
    let name = pods[0]["metadata"]["name"].as_str().ok_or("no name")?;
    let patch =
        ["patch", "pod", name, "-n", &variant.namespace, "--subresource=status", "--type=merge", "-p"];
    let done = plane.kubectl(&[&patch[..], &[&status.to_string()]].concat(), "")?;
    assert!(done.ok, "{}", done.stderr);
    plane.until("the Job is complete", Duration::from_secs(30), || {
        Ok(plane.get(&["job", "j", "-n", &variant.namespace])?["status"]["succeeded"] == 1)
    })?;
    Ok(())
}
