//! Pods that people create.

use super::support::plane::Plane;
use super::support::site::{PROFILE_LABEL, Site, assert_fitted, cpu_pod, training_pod};
use super::trial;
use crate::support::suite::{Outcome, Suite};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "a_training_pod_is_admitted_with_the_whole_set", whole_set);
    trial(suite, assets, "a_file_carries_what_env_would_have", file_carrier);
    trial(suite, assets, "dry_run_shows_the_change_and_stores_nothing", dry_run);
    trial(suite, assets, "a_generated_name_is_no_obstacle", generated_name);
    trial(suite, assets, "audit_warns_and_changes_nothing", audit);
    trial(suite, assets, "other_namespaces_are_not_asked_about", not_asked);
    trial(suite, assets, "a_refused_profile_is_a_denial_that_reads_well", refused);
    trial(suite, assets, "baseline_pod_security_keeps_ipc_lock_out", pod_security);
    trial(suite, assets, "quota_and_limit_range_see_what_is_injected", quota);
    trial(suite, assets, "default_requests_leave_room_for_the_monitor", monitor_within_pod);
    trial(suite, assets, "an_audit_log_entry_names_profile_and_evidence", audit_log);
}

pub(super) fn whole_set(plane: &Plane) -> Outcome {
    let site = Site::start(plane, &[], &[])?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let done = site.create(&namespace, &training_pod("whole"), &[])?;
    assert!(done.ok, "{}", done.stderr);
    assert!(
        done.stderr.contains(
            "Warning: fabric-admission injected networks, RDMA resources, IPC_LOCK, /dev/shm, 3 variables"
        ),
        "{}",
        done.stderr
    );
    assert_fitted(&plane.get(&["pod", "whole", "-n", &namespace])?);
    // A dump that is created again needs nothing more.
    let mut dump = plane.get(&["pod", "whole", "-n", &namespace])?;
    for key in ["uid", "resourceVersion", "creationTimestamp", "managedFields"] {
        dump["metadata"].as_object_mut().map(|m| m.remove(key));
    }
    dump["metadata"]["name"] = json!("again");
    let done = site.create(&namespace, &dump, &["-o", "json"])?;
    assert!(done.ok && !done.stderr.contains("injected"), "{}", done.stderr);
    let again: Value = serde_json::from_str(&done.stdout).map_err(|e| e.to_string())?;
    assert_eq!(again["spec"]["containers"], dump["spec"]["containers"]);
    Ok(())
}

/// Ranks over ssh read from a file what they would else have in `env`; NCCL splits its lines at the first `=`.
fn file_carrier(plane: &Plane) -> Outcome {
    let site = Site::start(plane, &[], &[])?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let stored = |pod: &Value| {
        let done = site.create(&namespace, pod, &[])?;
        assert!(done.ok, "{}", done.stderr);
        let name = pod["metadata"]["name"].as_str().unwrap_or_default();
        Ok::<_, String>((done.stderr, plane.get(&["pod", name, "-n", &namespace])?))
    };
    let (_, plain) = stored(&training_pod("plain"))?;
    let mut pod = training_pod("ssh");
    pod["spec"]["containers"][0]["command"] = json!(["/usr/sbin/sshd", "-De"]);
    let (warnings, ssh) = stored(&pod)?;
    let variables = |pod: &Value| {
        let env = pod["spec"]["containers"][0]["env"].as_array().cloned().unwrap_or_default();
        let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
        env.iter().map(|e| (text(&e["name"]), text(&e["value"]))).collect::<BTreeMap<_, _>>()
    };
    let key = "fabric-admission.dev/file.nccl.conf";
    let file = ssh["metadata"]["annotations"][key].as_str().unwrap_or_default();
    let lines = file.lines().filter_map(|l| l.split_once('=')).map(|(n, v)| (n.to_owned(), v.to_owned()));
    let lines: BTreeMap<_, _> = lines.collect();
    assert!(
        lines.len() == 3 && lines == variables(&plain),
        "{file} beside {}",
        plain["spec"]["containers"][0]["env"]
    );
    assert!(variables(&ssh).is_empty() && warnings.contains("3 variables in /etc/nccl.conf"), "{warnings}");
    let mount = json!({"name": "fabric-files", "mountPath": "/etc/nccl.conf", "subPath": "nccl.conf", "readOnly": true});
    let mounts = ssh["spec"]["containers"][0]["volumeMounts"].as_array().cloned().unwrap_or_default();
    assert!(mounts.contains(&mount), "{mounts:?}");
    let volumes = ssh["spec"]["volumes"].as_array().cloned().unwrap_or_default();
    let shown = volumes.iter().find(|v| v["name"] == "fabric-files").map(|v| &v["downwardAPI"]["items"][0]);
    let field = format!("metadata.annotations['{key}']");
    assert_eq!(shown.map(|item| &item["fieldRef"]["fieldPath"]), Some(&json!(field)));
    Ok(())
}

fn dry_run(plane: &Plane) -> Outcome {
    let site = Site::start(plane, &[], &[])?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let done = site.create(&namespace, &training_pod("dry"), &["--dry-run=server", "-o", "json"])?;
    assert!(done.ok, "{}", done.stderr);
    assert_fitted(&serde_json::from_str(&done.stdout).map_err(|e| e.to_string())?);
    assert!(!plane.kubectl(&["get", "pod", "dry", "-n", &namespace], "")?.ok);
    Ok(())
}

fn generated_name(plane: &Plane) -> Outcome {
    let site = Site::start(plane, &[], &[])?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let mut pod = training_pod("");
    pod["metadata"].as_object_mut().map(|m| m.remove("name"));
    pod["metadata"]["generateName"] = json!("rank-");
    let done = site.create(&namespace, &pod, &["-o", "json"])?;
    assert!(done.ok, "{}", done.stderr);
    assert_fitted(&serde_json::from_str(&done.stdout).map_err(|e| e.to_string())?);
    Ok(())
}

pub(super) fn audit(plane: &Plane) -> Outcome {
    let site = Site::start(plane, &[], &[])?;
    let namespace = plane.namespace(&[("fabric-admission.dev/mode", "audit")])?;
    let mut pod = training_pod("audited");
    pod["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"] = json!("[null]");
    let done = site.create(&namespace, &pod, &[])?;
    assert!(done.ok && done.stderr.contains("FAB101"), "{}", done.stderr);
    let bare = site.create(&namespace, &training_pod("bare"), &[])?;
    assert!(bare.ok && bare.stderr.contains("would inject networks"), "{}", bare.stderr);
    let stored = plane.get(&["pod", "bare", "-n", &namespace])?;
    assert!(stored["metadata"]["annotations"].get("k8s.v1.cni.cncf.io/networks").is_none(), "{stored}");
    assert_eq!((site.requests("mutate")?, site.requests("enforce")?), (0, 0));
    Ok(())
}

pub(super) fn not_asked(plane: &Plane) -> Outcome {
    let site = Site::start(plane, &[], &[])?;
    let plain = plane.namespace(&[])?;
    let odd = plane.namespace(&[("fabric-admission.dev/mode", "maybe")])?;
    plane.kubectl(&["label", "ns", "kube-system", "fabric-admission.dev/mode=enforce", "--overwrite"], "")?;
    for namespace in [plain.as_str(), odd.as_str(), "kube-system"] {
        let done = site.create(namespace, &training_pod("p"), &["--dry-run=server"])?;
        // kube-system may have no service account yet; what counts is that we are not asked.
        assert!(done.ok || done.stderr.contains("serviceaccount"), "{namespace}: {}", done.stderr);
    }
    plane.kubectl(&["label", "ns", "kube-system", "fabric-admission.dev/mode-"], "")?;
    let opted_in = plane.namespace(&[PROFILE_LABEL])?;
    let objects = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n";
    assert!(plane.kubectl(&["create", "-n", &opted_in, "-f", "-"], objects)?.ok);
    for entry in ["mutate", "enforce", "audit", "objects"] {
        assert_eq!(site.requests(entry)?, 0, "{entry}");
    }
    // A pod without accelerators is left alone, and the entry that can stop it is not asked.
    let done = site.create(&opted_in, &cpu_pod("cpu"), &[])?;
    assert!(done.ok && !done.stderr.contains("Warning"), "{}", done.stderr);
    assert_eq!((site.requests("mutate")?, site.requests("enforce")?), (1, 0));
    Ok(())
}

fn refused(plane: &Plane) -> Outcome {
    let site = Site::start(plane, &[], &[])?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let mut pod = training_pod("refused");
    pod["metadata"]["annotations"]["fabric-admission.dev/profile"] = json!("h10");
    let done = site.create(&namespace, &pod, &[])?;
    assert!(!done.ok);
    let expected = "Error from server (Forbidden): error when creating \"STDIN\": admission webhook \
                    \"mutate.fabric-admission.dev\" denied the request: 1 error, FAB804 profile \"h10\" does not exist";
    assert!(
        done.stderr.contains(expected) && done.stderr.contains("did you mean \"h100\"?"),
        "{}",
        done.stderr
    );
    Ok(())
}

fn pod_security(plane: &Plane) -> Outcome {
    let namespace = plane.namespace(&[PROFILE_LABEL, ("pod-security.kubernetes.io/enforce", "baseline")])?;
    let facts = plane.get(&["ns", &namespace])?.to_string();
    let site = Site::start(plane, &[("cluster/namespace.json", &facts)], &["--cluster", "cluster"])?;
    let done = site.create(&namespace, &training_pod("baseline"), &[])?;
    assert!(done.ok && done.stderr.contains("FAB503"), "{}", done.stderr);
    let pod = plane.get(&["pod", "baseline", "-n", &namespace])?;
    assert!(!pod.to_string().contains("\"add\":[\"IPC_LOCK\"]"), "{pod}");
    assert_eq!(pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/sriov_resource"], "8");
    Ok(())
}

fn quota(plane: &Plane) -> Outcome {
    let site = Site::start(plane, &[], &[])?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    plane.apply(&format!(
        "apiVersion: v1\nkind: ResourceQuota\nmetadata: {{name: rdma, namespace: {namespace}}}\nspec: {{hard: {{requests.nvidia.com/sriov_resource: \"8\"}}}}\n---\n\
         apiVersion: v1\nkind: LimitRange\nmetadata: {{name: l, namespace: {namespace}}}\nspec: {{limits: [{{type: Container, default: {{memory: 64Gi}}, defaultRequest: {{memory: 64Gi}}}}]}}\n"
    ))?;
    // Without a quota controller the status stays empty, and admission waits for it.
    let status = json!({"status": {"hard": {"requests.nvidia.com/sriov_resource": "8"}, "used": {"requests.nvidia.com/sriov_resource": "0"}}});
    let done = plane.kubectl(
        &[
            "patch",
            "resourcequota",
            "rdma",
            "-n",
            &namespace,
            "--subresource=status",
            "--type=merge",
            "-p",
            &status.to_string(),
        ],
        "",
    )?;
    assert!(done.ok, "{}", done.stderr);
    std::thread::sleep(std::time::Duration::from_millis(800));
    let first = site.create(&namespace, &training_pod("first"), &[])?;
    assert!(first.ok, "{}", first.stderr);
    // The default of the limit range is there before us: half of it is the size of /dev/shm.
    let pod = plane.get(&["pod", "first", "-n", &namespace])?;
    assert!(pod["spec"]["volumes"].to_string().contains("\"sizeLimit\":\"32Gi\""), "{pod}");
    let used = plane.get(&["resourcequota", "rdma", "-n", &namespace])?;
    assert_eq!(used["status"]["used"]["requests.nvidia.com/sriov_resource"], "8", "counted once");
    let second = site.create(&namespace, &training_pod("second"), &[])?;
    assert!(!second.ok && second.stderr.contains("exceeded quota: rdma"), "{}", second.stderr);
    Ok(())
}

/// The containers of a pod use up its `spec.resources`, and a LimitRange has defaults for containers without values.
fn monitor_within_pod(plane: &Plane) -> Outcome {
    let monitor = format!("{{base: roce-sriov, monitor: {{image: \"r.io/f@sha256:{}\"}}}}", "a".repeat(64));
    let own = crate::support::server::PROFILE;
    let monitored = own.replace("name: h100", "name: monitored").replace("{base: roce-sriov}", &monitor);
    let site = Site::start(plane, &[("profiles.yaml", &format!("{own}---\n{monitored}"))], &[])?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    plane.apply(&format!(
        "apiVersion: v1\nkind: LimitRange\nmetadata: {{name: l, namespace: {namespace}}}\nspec: {{limits: [{{type: Container, defaultRequest: {{cpu: 100m, memory: 1Gi}}}}]}}\n"
    ))?;
    std::thread::sleep(std::time::Duration::from_millis(800));
    for (name, requests, of_monitor) in [
        ("full", json!({"cpu": "10", "memory": "64Gi"}), json!({"cpu": "0", "memory": "0"})),
        ("roomy", json!({"cpu": "11", "memory": "65Gi"}), json!({"cpu": "20m", "memory": "64Mi"})),
    ] {
        let mut pod = training_pod(name);
        pod["metadata"]["annotations"]["fabric-admission.dev/profile"] = "monitored".into();
        pod["spec"]["resources"] = json!({"requests": requests});
        pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "10".into();
        pod["spec"]["containers"][0]["resources"]["requests"]["memory"] = "64Gi".into();
        let done = site.create(&namespace, &pod, &[])?;
        assert!(done.ok, "{}", done.stderr);
        let pod = plane.get(&["pod", name, "-n", &namespace])?;
        let added =
            pod["spec"]["initContainers"].as_array().and_then(|all| all.last()).cloned().unwrap_or_default();
        assert_eq!(
            (&added["name"], &added["resources"]["requests"]),
            (&json!("fabric-monitor"), &of_monitor),
            "{added}"
        );
    }
    Ok(())
}

fn audit_log(plane: &Plane) -> Outcome {
    let site = Site::start(plane, &[], &[])?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    assert!(site.create(&namespace, &training_pod("logged"), &[])?.ok);
    let log = std::fs::read_to_string(plane.directory().join("audit.log")).map_err(|e| e.to_string())?;
    let line = log
        .lines()
        .filter_map(|l| serde_json::from_str::<Value>(l).ok())
        .find(|l| {
            l["objectRef"]["namespace"] == namespace
                && l["verb"] == "create"
                && l["stage"] == "ResponseComplete"
        })
        .ok_or("no entry")?;
    let annotations = &line["annotations"];
    assert_eq!(annotations["enforce.fabric-admission.dev/profile"], "h100", "{annotations}");
    assert_eq!(annotations["enforce.fabric-admission.dev/evidence"], "named by the pod's annotation");
    assert_eq!(annotations["enforce.fabric-admission.dev/decision"], "allowed");
    let changes = annotations["mutate.fabric-admission.dev/changes"].as_str().unwrap_or_default();
    assert!(changes.starts_with("networks=1 ") && changes.contains("capability=1"), "{annotations}");
    Ok(())
}
