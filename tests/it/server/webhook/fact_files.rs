//! Profiles and facts in files: seen when they change, all or nothing.

use crate::support::server::{Server, bare_pod, patched, review};
use crate::support::suite::{Outcome, Suite};
use std::time::{Duration, Instant};

pub(super) fn add(suite: &mut Suite) {
    suite.add("webhook::changed_profiles_are_seen_all_or_nothing", changed);
    suite.add("webhook::a_changed_node_is_seen", node);
}

fn profile(name: &str, resource: &str) -> String {
    format!(
        "apiVersion: fabric-admission.dev/v1alpha1\nkind: FabricProfile\nmetadata: {{name: {name}}}\nspec:\n  base: roce-sriov\n  \
         nodeSelector: {{matchLabels: {{fabric: {name}}}}}\n  rails: [{{network: fabric/net, resource: {resource}, count: 8}}]\n"
    )
}

/// Resources that the webhook gives a pod.
fn resources(server: &Server, pod: &serde_json::Value) -> Result<serde_json::Value, String> {
    let body = review("u", ("", "Pod"), "CREATE", pod).to_string();
    let answer = server.post("/mutate", body.as_bytes())?.json()?;
    Ok(patched(pod, &answer)?["spec"]["containers"][0]["resources"]["limits"].clone())
}

fn eventually(server: &Server, pod: &serde_json::Value, resource: &str) -> Result<(), String> {
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        match resources(server, pod) {
            Ok(limits) if limits.get(resource).is_some() => return Ok(()),
            found if Instant::now() > end => return Err(format!("{resource} is not given: {found:?}")),
            _ => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}

fn changed() -> Outcome {
    let args = ["--profiles", "profiles", "--facts-poll", "0.1"];
    let server = Server::start(&[("profiles/a.yaml", &profile("h100", "x.com/one"))], &args)?;
    let pod = bare_pod();
    eventually(&server, &pod, "x.com/one")?;
    server.scratch.write("profiles/a.yaml", profile("h100", "x.com/two"))?;
    eventually(&server, &pod, "x.com/two")?;
    // One file of two is broken: neither counts.
    server.scratch.write(
        "profiles/b.yaml",
        "apiVersion: fabric-admission.dev/v1alpha1\nkind: FabricProfile\nspec: 3\n",
    )?;
    server.scratch.write("profiles/a.yaml", profile("h100", "x.com/three"))?;
    let end = Instant::now() + Duration::from_secs(10);
    while !server.admin("/metrics")?.body.contains("facts_reloads_total{result=\"failed\"}") {
        assert!(Instant::now() < end, "the broken file is not noticed");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(resources(&server, &pod)?.get("x.com/two").is_some(), "half a set is in use");
    server.scratch.write("profiles/b.yaml", profile("other", "x.com/other"))?;
    eventually(&server, &pod, "x.com/three")?;
    Ok(())
}

fn node() -> Outcome {
    let fabric = |name: &str| {
        format!(
            "apiVersion: v1\nkind: Node\nmetadata: {{name: gpu-1, labels: {{fabric: {name}, pool: p}}}}\n"
        )
    };
    let files = [
        ("profiles/a.yaml", profile("east", "x.com/east")),
        ("profiles/b.yaml", profile("west", "x.com/west")),
        ("nodes.yaml", fabric("east")),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(n, t)| (*n, t.as_str())).collect();
    let args = ["--profiles", "profiles", "--cluster", "nodes.yaml", "--facts-poll", "0.1"];
    let server = Server::start(&files, &args)?;
    let mut pod = bare_pod();
    pod["metadata"]["annotations"] = serde_json::json!({});
    pod["spec"]["nodeSelector"] = serde_json::json!({"pool": "p"});
    eventually(&server, &pod, "x.com/east")?;
    server.scratch.write("nodes.yaml", fabric("west"))?;
    Ok(eventually(&server, &pod, "x.com/west")?)
}
