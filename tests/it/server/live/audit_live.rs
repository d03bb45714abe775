//! `audit --live` with a scripted API server: pages, 410, 429, forbidden kinds, and an old server.

use super::{network, node, profile};
use crate::support::round_trip::same;
use crate::support::scripted_api_server::script::Script;
use crate::support::suite::{Outcome, Suite};
use crate::support::{Ran, Scratch, run};
use serde_json::{Value, json};

pub(super) fn add(suite: &mut Suite) {
    suite.add("live::audit_reads_a_cluster_in_pages", pages);
    suite.add("live::audit_counts_nothing_twice_when_a_list_expires", expired);
    suite.add("live::audit_gives_up_a_list_that_always_expires", always_expired);
    suite.add("live::audit_waits_for_a_busy_server", busy);
    suite.add("live::audit_is_partial_without_a_right", forbidden);
    suite.add("live::audit_ends_with_an_error_if_a_list_fails", failing);
    suite.add("live::audit_shows_its_result_if_a_list_of_facts_fails", failing_facts);
    suite.add("live::audit_of_a_kind_in_another_version", other_version);
    suite.add("live::audit_judges_namespaces", namespaces);
    suite.add("live::audit_gives_up_a_list_that_stalls", stalled);
    suite.add("live::audit_gives_up_facts_that_stall", stalled_facts);
    suite.add("live::audit_reads_facts_in_pages_of_a_megabyte", pages_of_facts);
    suite.add("live::audit_names_what_does_not_exist", names);
    suite.add("live::audit_warns_of_an_old_server", old_server);
    suite.add("live::audit_without_a_server", no_server);
    suite.add("live::profiles_are_listed_and_shown_with_their_users", profiles);
}

fn job(name: &str) -> Value {
    json!({"metadata": {"namespace": "training", "name": name}, "spec": {"template": {"spec": spec()}}})
}

fn spec() -> Value {
    json!({"nodeSelector": {"pool": "p"}, "containers": [{"name": "c", "image": "i",
        "resources": {"limits": {"nvidia.com/gpu": 8}}}]})
}

fn pod(name: &str, job: &str) -> Value {
    let owner = json!({"apiVersion": "batch/v1", "kind": "Job", "name": job, "uid": "u", "controller": true});
    let mut spec = spec();
    spec["nodeName"] = json!("gpu-1");
    json!({"metadata": {"namespace": "training", "name": name, "ownerReferences": [owner]}, "spec": spec,
        "status": {"phase": "Running"}})
}

/// A fabric, a Job with 40 pods, a Deployment with a ReplicaSet and a pod, and a ReplicaSet of its own.
fn site() -> Result<Script, String> {
    let script = Script::start()?;
    let labels = json!({"fabric-admission.dev/mode": "enforce"});
    script.put("Namespace", json!({"metadata": {"name": "training", "labels": labels}}));
    script.put("FabricProfile", profile("east", "x.com/east"));
    script.put("NetworkAttachmentDefinition", network("east"));
    script.put("Node", node("gpu-1", "east", "p"));
    script.put("Job", job("ranks"));
    for n in 0..40 {
        script.put("Pod", pod(&format!("ranks-{n:02}"), "ranks"));
    }
    let template = json!({"metadata": {"labels": {"a": "b"}}, "spec": spec()});
    let of = |name: &str| json!({"metadata": {"namespace": "training", "name": name}, "spec": {"template": template}});
    script.put("Deployment", of("serving"));
    let owned = |kind: &str, name: &str| json!([{"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": "u", "controller": true}]);
    let mut set = of("serving-1");
    set["metadata"]["ownerReferences"] = owned("Deployment", "serving");
    script.put("ReplicaSet", set);
    let mut served = pod("serving-1-a", "");
    served["metadata"]["ownerReferences"] = owned("ReplicaSet", "serving-1");
    script.put("Pod", served);
    Ok(script)
}

fn audit(script: &Script, args: &[&str]) -> Result<Ran, String> {
    let scratch = Scratch::new()?;
    scratch.write("kubeconfig", script.kubeconfig())?;
    let all = [&["audit", "--live", "--kubeconfig", "kubeconfig", "-o", "json"], args].concat();
    run(&all, b"", scratch.path())
}

fn document(ran: &Ran) -> Result<Value, String> {
    let value: Value = serde_json::from_str(&ran.stdout).map_err(|e| format!("{e}: {}", ran.stderr))?;
    crate::cli::published_schemas::validate_audit(&value)?;
    Ok(value)
}

/// Kind, name and pods of each workload, by name.
fn lines(value: &Value) -> Vec<String> {
    let workloads = value["workloads"].as_array().into_iter().flatten().filter(|w| w["makesPods"] == true);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut lines: Vec<String> = workloads
        .map(|w| format!("{} {} {}", text(&w["object"]["kind"]), text(&w["object"]["name"]), w["pods"]))
        .collect();
    lines.sort();
    lines
}

const ALL: [&str; 2] = ["Deployment serving 1", "Job ranks 40"];

fn strings(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

fn pages() -> Outcome {
    let script = site()?;
    let ran = audit(&script, &["--page-size", "7"])?;
    let value = document(&ran)?;
    same("workloads", strings(&ALL), lines(&value))?;
    same("partial", false, value["partial"] == true)?;
    same("exit code", 0, ran.code)?;
    same("restart", 2, value["summary"]["restart"].as_u64().unwrap_or_default())?;
    let asked = script.asked("Pod", false);
    same("requests for pods", 6, asked.len())?;
    let limits: Vec<&str> = asked.iter().map(|r| r.parameter("limit")).collect();
    same("limits", vec!["7"; 6], limits)?;
    assert!(asked.iter().all(|r| r.parameter("resourceVersion").is_empty()), "{asked:?}");
    Ok(())
}

fn expired() -> Outcome {
    let script = site()?;
    script.page(10);
    script.expire_pages(2);
    let ran = audit(&script, &[])?;
    same("workloads", strings(&ALL), lines(&document(&ran)?))?;
    same("exit code", 0, ran.code)?;
    same("notes", 2, ran.stderr.matches("it is read again from its start").count())?;
    Ok(())
}

fn always_expired() -> Outcome {
    let script = site()?;
    script.page(10);
    script.expire_pages(1_000);
    let ran = audit(&script, &[])?;
    let value = document(&ran)?;
    same("exit code", 3, ran.code)?;
    same("cause", "failed", value["gaps"][0]["cause"].as_str().unwrap_or_default())?;
    same(
        "lists that were begun",
        4,
        script.asked("Pod", false).iter().filter(|r| r.parameter("continue").is_empty()).count(),
    )?;
    Ok(())
}

fn busy() -> Outcome {
    let script = site()?;
    script.fail(429, 2);
    let ran = audit(&script, &[])?;
    same("workloads", strings(&ALL), lines(&document(&ran)?))?;
    same("exit code", 0, ran.code)?;
    same("failures", 0, script.failures_left())?;
    Ok(())
}

fn forbidden() -> Outcome {
    let script = site()?;
    script.refuse("Pod", Some(403));
    script.refuse("SriovNetwork", Some(403));
    let ran = audit(&script, &[])?;
    let value = document(&ran)?;
    same("exit code", 2, ran.code)?;
    same("partial", true, value["partial"] == true)?;
    let gaps = value["gaps"].as_array().into_iter().flatten();
    let gaps: Vec<String> =
        gaps.filter_map(|g| Some(format!("{} {}", g["kind"].as_str()?, g["cause"].as_str()?))).collect();
    same("gaps", strings(&["SriovNetwork forbidden", "Pod forbidden"]), gaps)?;
    same("workloads", strings(&["Deployment serving 0", "Job ranks 0"]), lines(&value))?;
    // With a baseline of the same rights, only what is new counts.
    let scratch = Scratch::new()?;
    let text = scratch.path().join("text");
    audit(&script, &["-o", &format!("text={}", text.display())])?;
    let text = crate::support::read(&text)?;
    assert!(text.contains("PARTIAL RESULT"), "{text}");
    let base = scratch.path().join("base.json").display().to_string();
    same("exit code", 2, audit(&script, &["--write-baseline", &base])?.code)?;
    same("exit code with a baseline", 0, audit(&script, &["--new-since", &base])?.code)?;
    script.refuse("Job", Some(403));
    let ran = audit(&script, &["--new-since", &base])?;
    let value = document(&ran)?;
    same("exit code with less rights", 1, ran.code)?;
    let reason = value["baseline"]["incomparable"][0]["reason"].as_str().unwrap_or_default();
    Ok(same("reason", "Job objects are unknown to this run", reason)?)
}

fn failing() -> Outcome {
    let script = site()?;
    script.refuse("Pod", Some(500));
    let scratch = Scratch::new()?;
    let base = scratch.path().join("base.json");
    let ran = audit(&script, &["--write-baseline", &base.display().to_string()])?;
    let value = document(&ran)?;
    same("exit code", 3, ran.code)?;
    same("partial", true, value["partial"] == true)?;
    same("baseline", false, base.exists())?;
    assert!(ran.stderr.contains("Pod cannot be read"), "{}", ran.stderr);
    Ok(())
}

fn failing_facts() -> Outcome {
    let script = site()?;
    script.refuse("SriovNetwork", Some(500));
    let ran = audit(&script, &[])?;
    let value = document(&ran)?;
    same("exit code", 3, ran.code)?;
    same("gap", "SriovNetwork", value["gaps"][0]["kind"].as_str().unwrap_or_default())?;
    same("cause", "failed", value["gaps"][0]["cause"].as_str().unwrap_or_default())?;
    Ok(same("workloads", strings(&ALL), lines(&value))?)
}

/// Kubernetes 1.33 serves resource.k8s.io in v1beta1 and v1beta2 only.
fn other_version() -> Outcome {
    let script = site()?;
    script.command(|state| state.discovery.other_version = Some(("resource.k8s.io", "v1beta2")));
    for kind in ["DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"] {
        script.refuse(kind, Some(404));
    }
    let scratch = Scratch::new()?;
    let base = scratch.path().join("base.json");
    let base = base.display().to_string();
    let ran = audit(&script, &["--write-baseline", &base])?;
    let value = document(&ran)?;
    same("exit code", 2, ran.code)?;
    same("gaps", 4, value["gaps"].as_array().map(Vec::len).unwrap_or_default())?;
    same("cause", "other-version", value["gaps"][0]["cause"].as_str().unwrap_or_default())?;
    Ok(same("exit code with a baseline", 0, audit(&script, &["--new-since", &base])?.code)?)
}

fn namespaces() -> Outcome {
    let script = site()?;
    let labels = json!({"fabric-admission.dev/mode": "enforcing"});
    script.put("Namespace", json!({"metadata": {"name": "team", "labels": labels}}));
    let value = document(&audit(&script, &[])?)?;
    let found = value["workloads"].as_array().into_iter().flatten();
    let found = found.filter(|w| w["findings"][0]["rule"] == "FAB817");
    let objects: Vec<Value> = found.map(|w| w["object"].clone()).collect();
    same("objects", 1, objects.len())?;
    same("name", "team", objects[0]["name"].as_str().unwrap_or_default())?;
    same("namespace", &Value::Null, &objects[0]["namespace"])?;
    // An audit of this namespace is about its Namespace too, and about no other.
    for (namespace, expected) in [("team", strings(&["Namespace team"])), ("training", Vec::new())] {
        let value = document(&audit(&script, &["-n", namespace])?)?;
        let found = value["workloads"].as_array().into_iter().flatten();
        let found = found.filter(|w| w["object"]["kind"] == "Namespace");
        let names = found.map(|w| format!("Namespace {}", w["object"]["name"].as_str().unwrap_or_default()));
        same(namespace, expected, names.collect())?;
    }
    Ok(())
}

/// Nodes of 40 kB: pages of about a megabyte, and of at most so many objects as --page-size says.
fn pages_of_facts() -> Outcome {
    let script = site()?;
    for n in 0..120 {
        let mut object = node(&format!("big-{n:03}"), "east", "p");
        object["metadata"]["annotations"] = json!({"filler": "x".repeat(40_000)});
        script.put("Node", object);
    }
    let limits = |script: &Script| -> Vec<usize> {
        let limit = |request: &crate::support::scripted_api_server::http::Request| {
            request.parameter("limit").parse().ok()
        };
        script.asked("Node", false).iter().filter_map(limit).collect()
    };
    same("exit code", 0, audit(&script, &[])?.code)?;
    let asked = limits(&script);
    assert!(asked.len() >= 4 && asked.iter().all(|limit| *limit <= 30), "{asked:?}");
    same("exit code", 0, audit(&script, &["--page-size", "10"])?.code)?;
    let later = limits(&script).split_off(asked.len());
    assert!(!later.is_empty() && later.iter().all(|limit| *limit <= 10), "{later:?}");
    Ok(())
}

/// A list of facts that stalls ends after the time of the flag, not after 30 s.
fn stalled_facts() -> Outcome {
    let script = site()?;
    script.halt("SriovNetwork", true);
    let began = std::time::Instant::now();
    let ran = audit(&script, &["--request-timeout", "1"])?;
    let value = document(&ran)?;
    same("exit code", 3, ran.code)?;
    same("gap", "SriovNetwork", value["gaps"][0]["kind"].as_str().unwrap_or_default())?;
    assert!(began.elapsed() < std::time::Duration::from_secs(20), "{:?}", began.elapsed());
    Ok(())
}

fn stalled() -> Outcome {
    let script = site()?;
    script.halt("Pod", true);
    let ran = audit(&script, &["--request-timeout", "1"])?;
    let value = document(&ran)?;
    same("exit code", 3, ran.code)?;
    same("workloads", strings(&["Deployment serving 0", "Job ranks 0"]), lines(&value))?;
    let message = value["gaps"][0]["message"].as_str().unwrap_or_default();
    Ok(same("message", "no response from the API server within 1 s", message)?)
}

fn names() -> Outcome {
    let script = site()?;
    let ran = audit(&script, &["-n", "trainin"])?;
    same("exit code", 2, ran.code)?;
    assert!(ran.stderr.contains("did you mean \"training\"?"), "{}", ran.stderr);
    let ran = audit(&script, &["--context", "d"])?;
    same("exit code", 2, ran.code)?;
    assert!(ran.stderr.contains("context \"d\" does not exist"), "{}", ran.stderr);
    Ok(())
}

fn old_server() -> Outcome {
    let script = site()?;
    script.minor("32+");
    let ran = audit(&script, &[])?;
    assert!(
        ran.stderr.contains("the API server is Kubernetes 1.32; the oldest supported version is 1.33"),
        "{}",
        ran.stderr
    );
    Ok(same("exit code", 0, ran.code)?)
}

fn no_server() -> Outcome {
    let mut script = site()?;
    script.down();
    let ran = audit(&script, &[])?;
    same("exit code", 3, ran.code)?;
    assert!(ran.stderr.starts_with("error: --live: ") && ran.stdout.is_empty(), "{}", ran.stderr);
    Ok(())
}

/// A profile that cannot be used is listed with its problem, beside one that 41 pods use.
fn profiles() -> Outcome {
    let script = site()?;
    let mut broken = profile("west", "x.com/west");
    broken["spec"]["bootstrap"] = json!("rail9");
    script.put("FabricProfile", broken);
    let scratch = Scratch::new()?;
    scratch.write("kubeconfig", script.kubeconfig())?;
    let profiles = |args: &[&str]| {
        run(&[&["profiles"], args, &["--live", "--kubeconfig", "kubeconfig"]].concat(), b"", scratch.path())
    };
    let ran = profiles(&["list", "-o", "json"])?;
    let list: Value = serde_json::from_str(&ran.stdout).map_err(|e| format!("{e}: {}", ran.stderr))?;
    crate::cli::published_schemas::validate_profiles(&list)?;
    let [east, west] = [0, 1].map(|at| &list["profiles"][at]);
    same("nodes", (Some("east"), Some(1)), (east["name"].as_str(), east["nodes"].as_u64()))?;
    same("problem", Some("/spec/bootstrap"), west["problems"][0]["pointer"].as_str())?;
    let shown = profiles(&["show", "east"])?;
    assert!(shown.stdout.contains("# cluster\n"), "{}{}", shown.stdout, shown.stderr);
    let used = profiles(&["show", "east", "--used-by"])?;
    same("exit code", 0, used.code)?;
    let lines: Vec<&str> = used.stdout.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert!(lines.contains(&"training/ranks") && lines.contains(&"training/serving"), "{}", used.stdout);
    Ok(())
}
