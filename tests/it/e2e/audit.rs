//! `audit --live` against a real API server: pages, the auditor's rights, and a right that is missing.

use super::changes_in_a_live_cluster::Objects;
use super::crd_of_profiles::install;
use super::support::plane::Plane;
use super::support::site::rendered;
use super::trial;
use crate::support::round_trip::{documents, same};
use crate::support::suite::{Need, Outcome, Suite};
use crate::support::{Ran, names, run};
use fabric_admission::pod::templates_by_shape;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "audit_reads_a_cluster_with_the_auditors_rights", audited);
    let Some(shared) = suite.need(Need::Shared, "e2e::audit") else { return };
    drop(shared);
    trial(suite, assets, "audit_of_a_cluster_is_that_of_its_dump", dumped);
}

/// An account of the cluster, and a kubeconfig for it.
pub(super) fn account(plane: &Plane, name: &str, role: &str) -> Result<String, String> {
    plane.apply(&format!(
        "apiVersion: v1\nkind: ServiceAccount\nmetadata: {{name: {name}, namespace: default}}\n---\napiVersion: \
         rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {{name: {name}}}\nroleRef: {{apiGroup: \
         rbac.authorization.k8s.io, kind: ClusterRole, name: {role}}}\nsubjects: [{{kind: ServiceAccount, name: {name}, \
         namespace: default}}]\n"
    ))?;
    let token = plane.kubectl(&["create", "token", name, "-n", "default"], "")?;
    if !token.ok {
        return Err(token.stderr);
    }
    let done = plane.kubectl(&["config", "view", "--raw", "-o", "json"], "")?;
    let mut config: Value = serde_json::from_str(&done.stdout).map_err(|e| e.to_string())?;
    config["users"][0]["user"] = json!({"token": token.stdout.trim()});
    let file = plane.directory().join(format!("{name}.kubeconfig"));
    std::fs::write(&file, config.to_string()).map_err(|e| e.to_string())?;
    Ok(file.display().to_string())
}

fn audit(plane: &Plane, kubeconfig: &str, args: &[&str]) -> Result<(Ran, Value), String> {
    let all =
        [&["audit", "--live", "--kubeconfig", kubeconfig, "-o", "json", "--fail-on", "never"], args].concat();
    let ran = run(&all, b"", plane.directory())?;
    let value: Value = serde_json::from_str(&ran.stdout).map_err(|e| format!("{e}: {}", ran.stderr))?;
    crate::cli::published_schemas::validate_audit(&value)?;
    Ok((ran, value))
}

fn audited(plane: &Plane) -> Outcome {
    let outcome = audit_of_a_cluster(plane);
    // Other trials look at what remains of an installation.
    let role = ["delete", "clusterrole", "fabric-admission-auditor", "--ignore-not-found=true"];
    plane.kubectl(&role, "")?;
    outcome
}

fn audit_of_a_cluster(plane: &Plane) -> Outcome {
    install(plane)?;
    let _site = Objects::create(plane)?;
    for object in rendered(plane, "../tests/chart/auditor")? {
        if object["metadata"]["name"] == "fabric-admission-auditor" {
            plane.apply(&object.to_string())?;
        }
    }
    let namespace = plane.namespace(&[])?;
    // The pods of the corpus, as a Job would make them: the API server has given them its defaults.
    let template = json!({"spec": {"restartPolicy": "Never", "nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
        "containers": [{"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": 8}}}]}});
    let owner = |uid: &str| json!([{"apiVersion": "batch/v1", "kind": "CronJob", "name": "ranks", "uid": uid, "controller": true}]);
    // No controller of the plane looks after the pods of a CronJob.
    let job = json!({"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"namespace": namespace, "name": "ranks"},
        "spec": {"schedule": "0 0 1 1 *", "suspend": true, "jobTemplate": {"spec": {"template": template}}}});
    plane.apply(&job.to_string())?;
    let uid = plane.get(&["cronjob", "ranks", "-n", &namespace])?["metadata"]["uid"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let pods: Vec<Value> = (0..23)
        .map(|n| json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": namespace, "name": format!("ranks-{n}"),
            "ownerReferences": owner(&uid)}, "spec": template["spec"]}))
        .collect();
    plane.apply(&json!({"apiVersion": "v1", "kind": "List", "items": pods}).to_string())?;
    let outcome = checked(plane, &namespace);
    let _ = plane.kubectl(&["delete", "namespace", &namespace, "--wait=false"], "");
    outcome
}

fn checked(plane: &Plane, namespace: &str) -> Outcome {
    let auditor = account(plane, "auditor", "fabric-admission-auditor")?;
    let (ran, value) = audit(plane, &auditor, &["-n", namespace, "--page-size", "5"])?;
    same(&format!("partial: {}", value["gaps"]), false, value["partial"] == true)?;
    same(&format!("exit code: {}", ran.stderr), 0, ran.code)?;
    let workload = &value["workloads"][0];
    same("name", "ranks", workload["object"]["name"].as_str().unwrap_or_default())?;
    same("lines", 1, value["workloads"].as_array().map_or(0, Vec::len))?;
    let pods = workload["pods"].as_u64().unwrap_or_default();
    same("pods", 23, pods)?;
    assert!(!workload["changes"].as_array().is_some_and(Vec::is_empty), "{workload}");
    // All namespaces, with pages as the server likes them.
    let (ran, value) = audit(plane, &auditor, &[])?;
    same(&format!("exit code: {}", ran.stderr), 0, ran.code)?;
    assert!(value["summary"]["pods"].as_u64() >= Some(pods), "{}", value["summary"]);
    nightly(plane, &auditor)?;
    // Somebody who reads pods and workloads, and neither nodes nor custom resources.
    plane.apply(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: viewer}\nrules:\n- {apiGroups: ['', apps, \
         batch], resources: [pods, namespaces, deployments, replicasets, statefulsets, daemonsets, jobs, cronjobs], verbs: [get, \
         list]}\n",
    )?;
    let viewer = account(plane, "viewer", "viewer")?;
    let (ran, value) = audit(plane, &viewer, &["-n", namespace])?;
    same("exit code", 2, ran.code)?;
    let gaps: Vec<&str> =
        value["gaps"].as_array().into_iter().flatten().filter_map(|g| g["kind"].as_str()).collect();
    assert!(gaps.contains(&"Node") && gaps.contains(&"FabricProfile") && !gaps.contains(&"Pod"), "{gaps:?}");
    // The webhook's own account may not read pods.
    let own = rendered(plane, "base")?;
    let rules = own.iter().filter(|o| o["kind"] == "ClusterRole").map(|o| o["rules"].to_string());
    assert!(rules.into_iter().all(|rules| !rules.contains("\"pods\"")), "the server's role names pods");
    Ok(())
}

/// A Deployment without replicas for each pod template of the corpus that the API server accepts, as it is given.
fn deployments(plane: &Plane, namespace: &str) -> Result<Vec<Value>, String> {
    let corpus = Need::Shared.find().ok_or("no shared data")?.join("corpus");
    let (mut number, mut accepted) = (0, Vec::new());
    for file in names(&corpus).iter().filter(|name| name.ends_with(".yaml")) {
        let text = std::fs::read(corpus.join(file)).map_err(|e| e.to_string())?;
        for (_, document) in documents(&text) {
            let json = document.to_string();
            for template in templates_by_shape::find_templates(&json) {
                let mut template: Value = serde_json::from_str(template.json).map_err(|e| e.to_string())?;
                template["metadata"]["labels"]["app"] = json!("corpus");
                if let Some(spec) = template["spec"].as_object_mut() {
                    for field in ["restartPolicy", "serviceAccountName", "activeDeadlineSeconds"] {
                        spec.remove(field);
                    }
                }
                let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment",
                    "metadata": {"namespace": namespace, "name": format!("corpus-{number}")},
                    "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "corpus"}}, "template": template}});
                let done = plane.kubectl(&["create", "-f", "-"], &deployment.to_string())?;
                if done.ok {
                    number += 1;
                    accepted.push(deployment);
                }
            }
        }
    }
    Ok(accepted)
}

/// Workloads without what only a live cluster has: the versions that the API server prefers are those of kubectl.
fn workloads(value: &Value) -> Vec<String> {
    let all = value["workloads"].as_array().into_iter().flatten();
    all.map(|w| serde_json::to_string_pretty(w).unwrap_or_default()).collect()
}

/// The rules of the findings of each workload, by its name.
fn rules<'a>(results: impl Iterator<Item = (&'a Value, &'a Value)>) -> BTreeMap<String, BTreeSet<String>> {
    let mut rules: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, findings) in results {
        let found = findings.as_array().into_iter().flatten().filter_map(|f| f["rule"].as_str());
        let name = name.as_str().unwrap_or_default().to_owned();
        rules.entry(name).or_default().extend(found.map(str::to_owned));
    }
    rules
}

/// `review --live` of the files finds what the audit finds in the objects that the API server made of them.
fn reviewed(plane: &Plane, kubeconfig: &str, deployments: &[Value], audit: &Value) -> Outcome {
    let directory = plane.directory().join("given");
    std::fs::create_dir_all(&directory).map_err(|e| e.to_string())?;
    for deployment in deployments {
        let name = deployment["metadata"]["name"].as_str().unwrap_or_default();
        std::fs::write(directory.join(format!("{name}.json")), deployment.to_string())
            .map_err(|e| e.to_string())?;
    }
    let args = ["review", "--live", "--kubeconfig", kubeconfig, "-o", "json", "--fail-on", "never", "given"];
    let ran = run(&args, b"", plane.directory())?;
    same(&format!("exit code of review: {}", ran.stderr), 0, ran.code)?;
    let review: Value = serde_json::from_str(&ran.stdout).map_err(|e| format!("{e}: {}", ran.stderr))?;
    same("partial review", false, review["summary"]["partial"] == true)?;
    let results = review["results"].as_array().into_iter().flatten();
    let reviewed = rules(results.map(|r| (&r["name"], &r["findings"])));
    let workloads = audit["workloads"].as_array().into_iter().flatten();
    let audited = rules(workloads.map(|w| (&w["object"]["name"], &w["findings"])));
    let differs = audited.iter().filter_map(|(name, audited)| {
        let mut reviewed = reviewed.get(name).cloned().unwrap_or_default();
        // A placeholder is the business of the file.
        reviewed.remove("FAB903");
        (*audited != reviewed).then(|| format!("{name}: audit {audited:?}, review {reviewed:?}"))
    });
    same("workloads that differ", Vec::<String>::new(), differs.collect())?;
    let all: BTreeSet<&String> = audited.values().flatten().collect();
    assert!(all.len() > 5, "only the rules {all:?}");
    Ok(())
}

fn dumped(plane: &Plane) -> Outcome {
    install(plane)?;
    let _site = Objects::create(plane)?;
    let namespace = plane.namespace(&[])?;
    let given = deployments(plane, &namespace)?;
    let number = given.len();
    assert!(number > 20, "the API server accepts {number} templates of the corpus");
    let kinds = "ns,nodes,fprof,network-attachment-definitions,deploy,rs,sts,ds,jobs,pods";
    let dump = plane.kubectl(&["get", kinds, "-A", "-o", "json"], "")?;
    assert!(dump.ok, "{}", dump.stderr);
    std::fs::write(plane.directory().join("dump.json"), &dump.stdout).map_err(|e| e.to_string())?;
    let kubeconfig = plane.directory().join("kubeconfig").display().to_string();
    let (_, live) = audit(plane, &kubeconfig, &["-n", &namespace, "--page-size", "3"])?;
    let args = ["audit", "--cluster", "dump.json", "-o", "json", "--fail-on", "never", "-n", &namespace];
    let ran = run(&args, b"", plane.directory())?;
    let files: Value = serde_json::from_str(&ran.stdout).map_err(|e| format!("{e}: {}", ran.stderr))?;
    let review = reviewed(plane, &kubeconfig, &given, &live);
    let _ = plane.kubectl(&["delete", "namespace", &namespace, "--wait=false"], "");
    review?;
    let (live, files) = (workloads(&live), workloads(&files));
    eprintln!("{number} templates of the corpus, {} in scope", live.len());
    assert!(live.len() > 20, "{} in scope", live.len());
    let differs = files.iter().zip(&live).find(|(file, live)| file != live);
    same("the first that differs", None, differs)?;
    Ok(same("workloads", files.len(), live.len())?)
}

/// The example of a CronJob: the API server accepts it, and its command works with the auditor's rights.
fn nightly(plane: &Plane, kubeconfig: &str) -> Result<(), String> {
    plane.apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: fabric-admission}\n")?;
    let objects = rendered(plane, "../tests/chart/audit-cronjob")?;
    let ours = ["fabric-admission-audit", "fabric-admission-auditor"];
    for object in objects.iter().filter(|o| o["metadata"]["name"].as_str().is_some_and(|n| ours.contains(&n)))
    {
        let args = ["apply", "--dry-run=server", "--validate=strict", "-f", "-"];
        let done = plane.kubectl(&args, &object.to_string())?;
        if !done.ok || done.stderr.contains("Warning") {
            return Err(format!("{}: {}", object["kind"], done.stderr));
        }
    }
    let job = objects.iter().find(|o| o["kind"] == "CronJob").ok_or("no CronJob")?;
    let container = &job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0];
    let results = plane.directory().join("results");
    std::fs::create_dir_all(&results).map_err(|e| e.to_string())?;
    let args = container["args"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut args: Vec<String> = args.map(|a| a.replace("/results", &results.display().to_string())).collect();
    args.extend(["--kubeconfig".to_owned(), kubeconfig.to_owned()]);
    let ran = run(&args, b"", plane.directory())?;
    same(&format!("exit code of the CronJob: {}", ran.stderr), 0, ran.code)?;
    for file in ["audit.json", "latest-baseline.json"] {
        let text = std::fs::read_to_string(results.join(file)).map_err(|e| format!("{file}: {e}"))?;
        serde_json::from_str::<Value>(&text).map_err(|e| format!("{file}: {e}"))?;
    }
    Ok(())
}
