//! One plan: what `review` says of a pod, the webhook says of the same pod.

use crate::support::round_trip::without_owner;
use crate::support::server::{Server, patched, review};
use crate::support::suite::{Outcome, Suite};
use crate::support::{Scratch, names, read, root, run};
use serde_json::{Value, json};
use std::path::Path;

/// Rules that name objects or addresses of networks to operators, and not to anyone on the port.
const TENANTS_KNOW_LESS: [&str; 3] = ["FAB106", "FAB134", "FAB220"];

pub(super) fn add(suite: &mut Suite) {
    let cases = root().join("tests/cases");
    for name in names(&cases) {
        let case = cases.join(&name);
        suite.add(format!("same_as_review::{name}"), move || agree(&case));
    }
}

/// Reviews every pod template of a case as a pod of its own, offline and through the server, under the same
/// profiles and facts.
fn agree(case: &Path) -> Outcome {
    let args: Vec<String> = read(&case.join("args")).unwrap_or_default().lines().map(str::to_owned).collect();
    let flag = |name: &str| args.iter().position(|a| a == name).and_then(|i| args.get(i + 1)).cloned();
    let input = names(case).into_iter().find(|n| n.starts_with("input.")).ok_or("no input")?;
    let scratch = Scratch::new()?;
    let mut profiles = flag("--profiles").map(|p| read(&case.join(p))).transpose()?.unwrap_or_default();
    let named = flag("--profile");
    if let Some(base) = named.as_ref().filter(|_| profiles.is_empty()) {
        // The server uses a base only through a FabricProfile.
        profiles = format!(
            "apiVersion: fabric-admission.dev/v1alpha1\nkind: FabricProfile\nmetadata: {{name: {base}}}\nspec: {{base: {base}}}\n"
        );
    }
    // The inputs are facts too: networks and namespaces beside the pods.
    scratch
        .write(&format!("cluster/{input}"), std::fs::read(case.join(&input)).map_err(|e| e.to_string())?)?;
    if let Ok(cluster) = read(&case.join("cluster.yaml")) {
        scratch.write("cluster/cluster.yaml", cluster)?;
    }
    let mut facts = vec!["--cluster".to_owned(), "cluster".to_owned()];
    if !profiles.is_empty() {
        scratch.write("profiles.yaml", &profiles)?;
        facts.extend(["--profiles".to_owned(), "profiles.yaml".to_owned()]);
    }
    let first = run(
        &[vec!["review".to_owned(), input.clone(), "-o".to_owned(), "json".to_owned()], args.clone()]
            .concat(),
        b"",
        case,
    )?;
    let report: Value = serde_json::from_str(&first.stdout).map_err(|e| e.to_string())?;
    let pods = pods(case, &input, &report, named.as_deref())?;
    if pods.is_empty() {
        return Ok(());
    }
    crate::support::server::certificate(&scratch.path().join("tls"))?;
    let borrowed: Vec<&str> = facts.iter().map(String::as_str).collect();
    let server = Server::start_in(scratch, &borrowed)?;
    for (namespace, mode, pod) in pods {
        server.scratch.write("pod.json", pod.to_string())?;
        let mut offline =
            vec!["review", "pod.json", "-o", "json", "--namespace", &namespace, "--mode", &mode];
        offline.extend(&borrowed);
        let ran = run(&offline, b"", server.scratch.path())?;
        let offline: Value = serde_json::from_str(&ran.stdout).map_err(|e| format!("{e}: {}", ran.stderr))?;
        let result = &offline["results"][0];
        if result["optedIn"] == false {
            continue;
        }
        let mut request = review("one-plan", ("", "Pod"), "CREATE", &pod);
        request["request"]["namespace"] = json!(namespace);
        let path = if mode == "audit" { "/audit" } else { "/mutate" };
        let online = server.post(path, request.to_string().as_bytes())?.json()?;
        compare(&pod, result, &online, &mode)
            .map_err(|e| format!("{e}\noffline {result}\nonline {online}"))?;
    }
    Ok(())
}

/// The pods of a case: its templates, made whole, with the profile of the flag as their annotation.
fn pods(
    case: &Path,
    input: &str,
    report: &Value,
    named: Option<&str>,
) -> Result<Vec<(String, String, Value)>, String> {
    let bytes = std::fs::read(case.join(input)).map_err(|e| e.to_string())?;
    let documents: Vec<_> = fabric_admission::manifest::read_documents_of_file(input, &bytes)
        .into_iter()
        .filter_map(|item| match item {
            fabric_admission::manifest::DocumentOrError::Document(document) => Some(document),
            _ => None,
        })
        .collect();
    let mut pods = Vec::new();
    for result in report["results"].as_array().into_iter().flatten() {
        let Some(template) = result["template"].as_str() else { continue };
        // Workers of an MPIJob are known by the labels that the operator gives their pods, not by the template.
        if result["kind"] == "MPIJob" {
            continue;
        }
        let document = &documents[result["source"]["document"].as_u64().unwrap_or(0) as usize];
        let pointer = format!("{}{template}", result["source"]["pointer"].as_str().unwrap_or_default());
        let raw = document.json_at_pointer(&pointer).ok_or("no template there")?;
        let template: Value = serde_json::from_str(raw.get()).map_err(|e| e.to_string())?;
        let mut pod = json!({"apiVersion": "v1", "kind": "Pod"});
        for key in ["metadata", "spec"] {
            if let Some(value) = template.get(key) {
                pod[key] = value.clone();
            }
        }
        if let Some(profile) = named {
            if !pod["metadata"].is_object() {
                pod["metadata"] = json!({});
            }
            if !pod["metadata"]["annotations"].is_object() {
                pod["metadata"]["annotations"] = json!({});
            }
            pod["metadata"]["annotations"]["fabric-admission.dev/profile"] = json!(profile);
        }
        let text = |key: &str| result[key].as_str().unwrap_or("default").to_owned();
        pods.push((text("namespace"), text("mode"), pod));
    }
    Ok(pods)
}

fn compare(pod: &Value, offline: &Value, online: &Value, mode: &str) -> Result<(), String> {
    let response = &online["response"];
    let findings = offline["findings"].as_array().cloned().unwrap_or_default();
    if mode == "audit" {
        if response["allowed"] != true || response.get("patch").is_some() {
            return Err("audit changes or denies".into());
        }
    } else if offline["verdict"] == "allow" {
        let patch = offline["patch"].as_array().cloned().unwrap_or_default();
        if patch.is_empty() != response.get("patch").is_none() {
            return Err("one has a patch and the other none".into());
        }
        if !patch.is_empty() {
            let operations: json_patch::Patch =
                serde_json::from_value(Value::Array(patch)).map_err(|e| e.to_string())?;
            let mut expected = pod.clone();
            json_patch::patch(&mut expected, &operations).map_err(|e| e.to_string())?;
            if patched(pod, online)? != expected {
                return Err("the patched pods differ".into());
            }
        }
    }
    // Every warning and error that the review reports, the webhook reports in the same words, cut to a warning's
    // length; a denial has everything in its message.
    let reported = format!("{}{}", response["warnings"], response["status"]["message"]);
    let alike =
        |f: &&Value| f["severity"] != "info" && !TENANTS_KNOW_LESS.iter().any(|rule| f["rule"] == *rule);
    let missing = findings.iter().filter(alike).find(|finding| {
        let text = |key: &str| finding[key].as_str().unwrap_or_default();
        let head: String = without_owner(text("message")).chars().take(150).collect();
        let head = serde_json::to_string(&head).unwrap_or_default();
        !reported.contains(text("rule"))
            || !reported.contains(head.get(1..head.len() - 1).unwrap_or_default())
    });
    missing.map_or(Ok(()), |finding| Err(format!("not reported online: {finding}")))
}
