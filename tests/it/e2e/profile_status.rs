//! Statuses of FabricProfiles: written with the rights of `deploy/` and no others, by one replica of several; another
//! takes over when that one dies, and sooner when it stops.

use super::crd_of_profiles::install;
use super::support::plane::Plane;
use super::support::site::{PROFILE_LABEL, Site, rendered};
use super::trial;
use crate::support::server::Server;
use crate::support::suite::{Outcome, Suite};
use fabric_admission::cluster::write_profile_status::{FIELD_MANAGER, LEASE};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "profiles_are_judged_as_they_are_written", judged);
    trial(suite, assets, "status_is_written_by_one_replica_with_our_rights", written);
}

pub(super) const NAMESPACE: &str = "fabric-admission";

fn profile(name: &str, spec: &Value) -> Value {
    json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": {"name": name}, "spec": spec})
}

/// Profiles and nodes of a trial; gone when dropped.
struct Cleanup<'a>(&'a Plane);

impl Drop for Cleanup<'_> {
    fn drop(&mut self) {
        for kind in ["fabricprofiles", "nodes"] {
            let _ = self.0.kubectl(&["delete", kind, "--all", "--wait=false"], "");
        }
    }
}

fn judged(plane: &Plane) -> Outcome {
    install(plane)?;
    let _cleanup = Cleanup(plane);
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let cluster = format!(
        "apiVersion: v1\nkind: Namespace\nmetadata: {{name: {namespace}, labels: {{fabric-admission.dev/mode: enforce}}}}\n"
    );
    let broken = profile("broken", &json!({"base": "roce-sriov", "bootstrap": "rail9"}));
    let files = [("cluster.yaml", cluster.as_str())];
    {
        let site =
            Site::start(plane, &files, &["--cluster", "cluster.yaml", "--network-objects", "enforce"])?;
        let refused = site.create(&namespace, &broken, &["--dry-run=server"])?;
        assert!(!refused.ok && refused.stderr.contains("FAB811 /spec/bootstrap"), "{}", refused.stderr);
        let good = site.create(&namespace, &profile("used", &json!({"base": "roce-sriov"})), &[])?;
        assert!(good.ok && !good.stderr.contains("FAB"), "{}", good.stderr);
        let patch = r#"{"spec":{"env":[{"name":"NCCL_IB_TC","value":"106"}]}}"#;
        let changed = plane.kubectl(&["patch", "fprof", "used", "--type=merge", "-p", patch], "")?;
        assert!(
            changed.ok
                && changed.stderr.contains("Warning: FAB812")
                && changed.stderr.contains("changes (env)"),
            "{}",
            changed.stderr
        );
        // The API server shows no client certificate.
        assert!(changed.stderr.contains("1 namespace may use it:"), "{}", changed.stderr);
        let gone = plane.kubectl(&["delete", "fprof", "used"], "")?;
        assert!(gone.ok && gone.stderr.contains("Warning: FAB812"), "{}", gone.stderr);
    }
    let site = Site::start(plane, &[], &[])?;
    let warned = site.create(&namespace, &broken, &["--dry-run=server"])?;
    assert!(warned.ok && warned.stderr.contains("Warning: FAB811"), "{}", warned.stderr);
    Ok(())
}

/// What `deploy/base` says of who we are, applied, and a kubeconfig with that and no more.
pub(super) fn account(plane: &Plane) -> Result<String, String> {
    plane.apply(&format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: {NAMESPACE}}}\n"))?;
    for object in rendered(plane, "base")? {
        let kind = object["kind"].as_str().unwrap_or_default();
        if kind == "ServiceAccount" || kind.contains("Role") {
            plane.apply(&object.to_string())?;
        }
    }
    let token = plane.kubectl(&["create", "token", "fabric-admission", "-n", NAMESPACE], "")?;
    if !token.ok {
        return Err(token.stderr);
    }
    let mut config: Value = plane
        .kubectl(&["config", "view", "--raw", "-o", "json"], "")
        .and_then(|done| serde_json::from_str(&done.stdout).map_err(|e| format!("{e}: {}", done.stderr)))?;
    config["users"][0]["user"] = json!({"token": token.stdout.trim()});
    config["contexts"][0]["context"]["namespace"] = json!(NAMESPACE);
    let file = plane.directory().join("account.kubeconfig");
    std::fs::write(&file, config.to_string()).map_err(|e| e.to_string())?;
    Ok(file.to_string_lossy().into_owned())
}

/// One replica that writes statuses, ready.
fn replica(plane: &Plane, kubeconfig: &str) -> Result<Server, String> {
    let args = ["--kubeconfig", kubeconfig, "--profile-status", "--watch-retry", "0.2", "--lame-duck", "0"];
    let server = Server::start(&[], &args)?;
    plane.until("the server is ready", Duration::from_secs(20), || {
        Ok(server.admin("/readyz")?.status == 200)
    })?;
    Ok(server)
}

/// A number of the metrics; 0 where it is not there.
fn metric(server: &Server, name: &str) -> Result<u64, String> {
    let text = server.admin("/metrics")?.body;
    let line = text.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(' ')).unwrap_or("0");
    line.parse().map_err(|e| format!("{name}: {e}"))
}

/// Waits until the status is about the profile as it is; it, and how long that took.
fn status(plane: &Plane, name: &str) -> Result<(Value, Duration), String> {
    let start = Instant::now();
    let mut found = Value::Null;
    plane.until("the status is about the profile as it is", Duration::from_secs(30), || {
        found = plane.get(&["fprof", name, "--show-managed-fields"])?;
        Ok(found["status"]["observedGeneration"] == found["metadata"]["generation"])
    })?;
    Ok((found, start.elapsed()))
}

fn holder(plane: &Plane) -> Result<Value, String> {
    Ok(plane.get(&["lease", LEASE, "-n", NAMESPACE])?["spec"]["holderIdentity"].clone())
}

fn written(plane: &Plane) -> Outcome {
    install(plane)?;
    let _cleanup = Cleanup(plane);
    let kubeconfig = account(plane)?;
    let node =
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": {"fabric": "east"}}});
    plane.apply(&node.to_string())?;
    let selector = json!({"matchLabels": {"fabric": "east"}});
    let spec = json!({"base": "roce-sriov", "nodeSelector": selector, "rails": [{"network": "fabric/gone"}]});
    plane.apply(&profile("p", &spec).to_string())?;
    let mut replicas = vec![replica(plane, &kubeconfig)?, replica(plane, &kubeconfig)?];
    let (object, _) = status(plane, "p")?;
    assert_eq!(object["status"]["matchingNodes"], 1, "{object}");
    // What the profile inherits is printed.
    let printed = plane.kubectl(&["get", "fprof", "p", "--no-headers", "-o", "wide"], "")?.stdout;
    let columns: Vec<&str> = printed.split_whitespace().take(6).collect();
    assert_eq!(columns, ["p", "roce-sriov", "roce", "sriov", "0", "1"], "{printed}");
    assert_eq!(object["status"]["problems"][0]["pointer"], "/spec/rails/0/network", "{object}");
    let managers = object["metadata"]["managedFields"].as_array().ok_or("no managed fields")?;
    let ours: Vec<&Value> = managers.iter().filter(|m| m["manager"] == FIELD_MANAGER).collect();
    assert!(ours.len() == 1 && ours[0]["subresource"] == "status", "{managers:?}");
    // No kind is forbidden to us, and what is nobody's business is.
    let metrics = replicas[0].admin("/metrics")?.body;
    let forbidden = metrics.lines().find(|l| l.contains("state=\"forbidden\"") && l.ends_with(" 1"));
    assert_eq!(forbidden, None);
    let account = format!("--as=system:serviceaccount:{NAMESPACE}:fabric-admission");
    for (verb, what) in
        [("get", "secrets"), ("list", "pods"), ("list", "configmaps"), ("update", "fabricprofiles")]
    {
        let may = plane.kubectl(&["auth", "can-i", verb, what, &account, "-A"], "")?;
        assert_eq!(may.stdout.trim(), "no", "{verb} {what}");
    }
    // One of the two writes.
    let leads = |server: &Server| metric(server, "fabric_admission_status_leader");
    if leads(&replicas[0])? == 0 {
        replicas.swap(0, 1);
    }
    assert_eq!((leads(&replicas[0])?, leads(&replicas[1])?), (1, 0));
    assert_eq!(metric(&replicas[1], "fabric_admission_status_writes_total")?, 0);
    let first = holder(plane)?;
    // It is killed: the other waits for the end of the lease.
    drop(replicas.remove(0));
    plane.apply(&profile("p", &json!({"base": "roce-sriov", "nodeSelector": selector})).to_string())?;
    let (_, took) = status(plane, "p")?;
    let second = holder(plane)?;
    assert!(first != second && took < Duration::from_secs(30), "{first} {second} {took:?}");
    // It stops: the next need not wait.
    let mut stopping = replicas.remove(0);
    let next = replica(plane, &kubeconfig)?;
    stopping.signal("-TERM")?;
    assert_eq!(stopping.wait(Duration::from_secs(15))?, 0);
    assert!(holder(plane)? != second, "the lease is not given up");
    plane.until("the next writes", Duration::from_secs(12), || Ok(leads(&next)? == 1))?;
    Ok(())
}
