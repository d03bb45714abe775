//! What goes on without the webhook: everything about a pod that exists, and the pods of the webhook's own namespace. Each
//! operation is done while the server answers, which shows that it is not asked, and while it does not.

use super::support::plane::Plane;
use super::support::site::{PROFILE_LABEL, Site, cpu_pod, training_pod};
use super::trial;
use crate::support::suite::{Outcome, Suite};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "pods_that_exist_are_changed_without_the_server", existing);
    if assets.join("kube-controller-manager").is_file() {
        trial(suite, assets, "scaling_does_not_wait_for_the_server", scaling);
        trial(suite, assets, "the_own_namespace_starts_without_the_server", own_namespace);
    } else {
        suite.missing("no kube-controller-manager; set KUBEBUILDER_ASSETS", "e2e::works_without_the_webhook");
    }
}

const ENTRIES: [&str; 6] = ["mutate", "enforce", "audit", "workloads", "networks", "objects"];

fn asked(site: &Site<'_>) -> Result<u64, String> {
    ENTRIES.iter().map(|entry| site.requests(entry)).sum()
}

/// A call of kubectl that must succeed.
fn done(plane: &Plane, args: &[&str], input: &str) -> Result<String, String> {
    let done = plane.kubectl(args, input)?;
    if done.ok { Ok(done.stdout) } else { Err(format!("{args:?}: {}", done.stderr)) }
}

/// Nodes of a trial; gone when dropped.
struct Nodes<'a>(&'a Plane);

impl Drop for Nodes<'_> {
    fn drop(&mut self) {
        let _ = self.0.kubectl(&["delete", "nodes", "--all", "--wait=false"], "");
    }
}

/// A pod of eight accelerators that may be resized.
fn pod(name: &str) -> Value {
    let mut pod = training_pod(name);
    pod["metadata"]["labels"] = json!({"app": name});
    pod["spec"]["containers"][0]["resources"]["limits"]["cpu"] = json!("4");
    pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!("2");
    pod["spec"]["terminationGracePeriodSeconds"] = json!(0);
    pod
}

pub(super) fn existing(plane: &Plane) -> Outcome {
    // Controllers may still create pods of earlier trials, for which the server would be asked.
    let mode = "fabric-admission.dev/mode";
    plane.kubectl(&["label", "namespaces", "-l", mode, &format!("{mode}-")], "")?;
    let site = Site::start(plane, &[], &[])?;
    let _nodes = Nodes(plane);
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let rounds = ["up", "down"];
    for round in rounds {
        plane.apply(&format!("apiVersion: v1\nkind: Node\nmetadata: {{name: {round}}}\n"))?;
        for name in ["gpu", "evicted", "drained"] {
            let created = site.create(&namespace, &pod(&format!("{name}-{round}")), &[])?;
            assert!(created.ok, "{}", created.stderr);
        }
    }
    for round in rounds {
        if round == "down" {
            site.point(|_| false)?;
            let refused = site.create(&namespace, &pod("new"), &[])?;
            assert!(!refused.ok && refused.stderr.contains("failed calling webhook"), "{}", refused.stderr);
        }
        let before = asked(&site)?;
        let name = |of: &str| format!("{of}-{round}");
        let (gpu, of) = (name("gpu"), ["-n", namespace.as_str()]);
        let path = |pod: &str, part: &str| format!("/api/v1/namespaces/{namespace}/pods/{pod}/{part}");
        let call = |args: &[&str], input: &str| done(plane, &[args, &of[..]].concat(), input);
        call(&["label", "pod", &gpu, "x=y"], "")?;
        call(&["annotate", "pod", &gpu, "example.com/a=b"], "")?;
        // ib-kubernetes writes the GUIDs into the annotation, and Multus the status, after the pod was created.
        let networks = call(
            &[
                "get",
                "pod",
                &gpu,
                "-o",
                "jsonpath={.metadata.annotations.k8s\\.v1\\.cni\\.cncf\\.io/networks}",
            ],
            "",
        )?;
        call(
            &["annotate", "--overwrite", "pod", &gpu, &format!("k8s.v1.cni.cncf.io/networks={networks} ")],
            "",
        )?;
        call(&["annotate", "pod", &gpu, "k8s.v1.cni.cncf.io/network-status=[]"], "")?;
        call(
            &[
                "patch",
                "pod",
                &gpu,
                "--subresource=resize",
                "-p",
                r#"{"spec":{"containers":[{"name":"trainer","resources":{"requests":{"cpu":"3"}}}]}}"#,
            ],
            "",
        )?;
        call(&["debug", &gpu, "--image=example.com/debug:1", "--target=trainer", "--profile=general"], "")?;
        call(
            &[
                "patch",
                "pod",
                &gpu,
                "--subresource=status",
                "--type=merge",
                "-p",
                r#"{"status":{"phase":"Pending","message":"m"}}"#,
            ],
            "",
        )?;
        for pod in [name("drained"), gpu.clone()] {
            let binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod},
                "target": {"apiVersion": "v1", "kind": "Node", "name": round}});
            call(&["create", "--raw", &path(&pod, "binding"), "-f", "-"], &binding.to_string())?;
        }
        let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name("evicted")},
            "deleteOptions": {"gracePeriodSeconds": 0}});
        call(&["create", "--raw", &path(&name("evicted"), "eviction"), "-f", "-"], &eviction.to_string())?;
        call(&["delete", "pod", &gpu, "--grace-period=0", "--force"], "")?;
        // Cordons the node and evicts its pods.
        done(
            plane,
            &[
                "drain",
                round,
                "--force",
                "--ignore-daemonsets",
                "--delete-emptydir-data",
                "--grace-period=0",
                "--timeout=30s",
            ],
            "",
        )?;
        let left = call(&["get", "pods", "-o", "name"], "")?;
        assert!(!left.contains(round), "{round}: {left}");
        assert_eq!(asked(&site)?, before, "{round}: the server is asked");
    }
    Ok(())
}

fn deployment(name: &str, template: &Value) -> Value {
    let mut template = template.clone();
    template["metadata"] =
        json!({"labels": {"app": name}, "annotations": template["metadata"]["annotations"]});
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {
        "replicas": 2, "selector": {"matchLabels": {"app": name}},
        "template": {"metadata": template["metadata"], "spec": template["spec"]}}})
}

fn has(plane: &Plane, namespace: &str, app: &str, count: usize) -> Result<(), String> {
    plane.until(&format!("{app} has {count} pods"), Duration::from_secs(60), || {
        let label = format!("app={app}");
        let pods = plane.get(&["pods", "-n", namespace, "-l", &label])?;
        let alive = pods["items"].as_array().into_iter().flatten();
        Ok(alive.filter(|pod| pod["metadata"]["deletionTimestamp"].is_null()).count() == count)
    })
}

fn scaling(plane: &Plane) -> Outcome {
    let site = Site::start(plane, &[], &[])?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    for (name, template) in [("cpu", cpu_pod("x")), ("gpu", pod("x"))] {
        let created = site.create(&namespace, &deployment(name, &template), &[])?;
        assert!(created.ok, "{}", created.stderr);
        has(plane, &namespace, name, 2)?;
    }
    let scale = |name: &str, replicas: &str| {
        done(plane, &["scale", "deployment", name, &format!("--replicas={replicas}"), "-n", &namespace], "")
    };
    site.point(|_| false)?;
    for name in ["cpu", "gpu"] {
        scale(name, "0")?;
        has(plane, &namespace, name, 0)?;
        scale(name, "2")?;
    }
    // Pods without a sign of a fabric come back; the others wait for the server, and nobody has to do anything then.
    has(plane, &namespace, "cpu", 2)?;
    plane.until("the refusal is an event", Duration::from_secs(30), || {
        let events = plane.get(&["events", "-n", &namespace])?.to_string();
        Ok(events.contains("FailedCreate") && events.contains("failed calling webhook"))
    })?;
    has(plane, &namespace, "gpu", 0)?;
    site.point(|_| true)?;
    has(plane, &namespace, "gpu", 2)?;
    Ok(())
}

/// The server itself, scaled to zero by mistake: its namespace is excluded by its name, whatever its labels say and whatever
/// its pods ask for.
fn own_namespace(plane: &Plane) -> Outcome {
    let site = Site::start(plane, &[], &[])?;
    plane.apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: fabric-admission, labels: {fabric-admission.dev/mode: enforce}}\n")?;
    plane.until("its service account is there", Duration::from_secs(60), || {
        Ok(plane.kubectl(&["get", "sa", "default", "-n", "fabric-admission"], "")?.ok)
    })?;
    let created = site.create("fabric-admission", &deployment("own", &pod("x")), &[])?;
    assert!(created.ok, "{}", created.stderr);
    has(plane, "fabric-admission", "own", 2)?;
    site.point(|_| false)?;
    for replicas in ["0", "2"] {
        let replicas = format!("--replicas={replicas}");
        done(plane, &["scale", "deployment", "own", &replicas, "-n", "fabric-admission"], "")?;
        has(plane, "fabric-admission", "own", if replicas.ends_with('0') { 0 } else { 2 })?;
    }
    done(plane, &["delete", "deployment", "own", "-n", "fabric-admission"], "")?;
    done(plane, &["label", "namespace", "fabric-admission", "fabric-admission.dev/mode-"], "")?;
    Ok(())
}
