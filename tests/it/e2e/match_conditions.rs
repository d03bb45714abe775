//! The matchConditions of `enforce`: it is asked about every pod that it could refuse, and about no other.

use super::support::creates::Creator;
use super::support::plane::Plane;
use super::support::site::{PROFILE_LABEL, Site, cpu_pod, training_pod};
use super::trial;
use crate::support::suite::{Outcome, Suite};
use serde_json::{Map, Value, json};
use std::path::Path;

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "enforce_is_asked_about_signs_of_a_fabric_alone", signs);
    trial(suite, assets, "the_conditions_bear_the_largest_pods", largest);
}

/// A CPU pod with a value at a JSON pointer's place; objects on the way are made.
fn with(path: &[&str], value: Value) -> Value {
    let mut pod = cpu_pod("p");
    let mut at = &mut pod;
    for step in path {
        at = match step.parse::<usize>() {
            Ok(index) => &mut at[index],
            Err(_) => &mut at[*step],
        };
    }
    *at = value;
    pod
}

fn map(n: usize, key: &str, value: &str) -> Map<String, Value> {
    (0..n).map(|i| (format!("{key}{i}"), value.into())).collect()
}

/// So many resources that are Kubernetes' own.
fn hugepages(n: usize) -> Value {
    let mut all: Map<String, Value> = (1..n).map(|i| (format!("hugepages-{i}"), "0".into())).collect();
    all.insert("cpu".to_owned(), 1.into());
    all.into()
}

fn many_containers(n: usize) -> Value {
    (0..n).map(|i| json!({"name": format!("c{i}"), "image": "a"})).collect()
}

fn signs(plane: &Plane) -> Outcome {
    let site = Site::start(plane, &[], &[])?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let container = |resources: Value| json!([{"name": "i", "image": "a", "resources": resources}]);
    let many = |key: &str| {
        let mut all = map(1_001, "a", "");
        all.insert(key.to_owned(), "h100".into());
        with(&["metadata", "annotations"], all.into())
    };
    let (limits, init) = (["spec", "containers", "0", "resources", "limits"], ["spec", "initContainers"]);
    for (pod, asked) in [
        (cpu_pod("p"), 0),
        (with(&["metadata", "annotations"], json!({"example.com/a": "b"})), 0),
        (with(&["metadata", "labels"], json!({"a": "b"})), 0),
        (
            with(
                &limits,
                json!({"cpu": 1, "memory": "1Gi", "ephemeral-storage": "1Gi", "hugepages-2Mi": "2Mi"}),
            ),
            0,
        ),
        (with(&init, container(json!({"requests": {"cpu": 1}}))), 0),
        (with(&["spec", "containers", "0", "env"], json!([{"name": "NCCL_DEBUG", "value": "INFO"}])), 0),
        (training_pod("gpu"), 1),
        (with(&limits, json!({"example.com/new": 1})), 1),
        (with(&init, container(json!({"limits": {"rdma/a": 1}}))), 1),
        (with(&["spec", "resourceClaims"], json!([{"name": "a", "resourceClaimName": "a"}])), 1),
        (with(&["metadata", "annotations"], json!({"k8s.v1.cni.cncf.io/networks": "a"})), 1),
        (with(&["metadata", "annotations"], json!({"v1.multus-cni.io/default-network": "kube-system/a"})), 1),
        (with(&["metadata", "annotations"], json!({"fabric-admission.dev/profile": "h100"})), 1),
        (with(&["metadata", "labels"], json!({"fabric-admission.dev/a": "b"})), 1),
        // Of more keys, only those count that give a pod networks or a profile.
        (with(&["metadata", "annotations"], map(1_000, "fabric-admission.dev/a", "").into()), 1),
        (with(&["metadata", "annotations"], map(1_001, "fabric-admission.dev/a", "").into()), 0),
        (many("k8s.v1.cni.cncf.io/networks"), 1),
        (many("v1.multus-cni.io/default-network"), 1),
        (many("fabric-admission.dev/profile"), 1),
        (many("fabric-admission.dev/inject"), 1),
        // More resources, or more containers, are not searched.
        (with(&limits, hugepages(8)), 0),
        (with(&limits, hugepages(9)), 1),
        (with(&["spec", "containers"], many_containers(3_000)), 0),
        (with(&["spec", "containers"], many_containers(3_001)), 1),
        (with(&init, many_containers(2_999)), 0),
        (with(&init, many_containers(3_000)), 1),
        (with(&["metadata", "labels"], map(1_000, "fabric-admission.dev/a", "").into()), 1),
        (with(&["metadata", "labels"], map(1_001, "fabric-admission.dev/a", "").into()), 0),
    ] {
        let before = site.requests("enforce")?;
        let done = site.create(&namespace, &pod, &["--dry-run=server"])?;
        assert_eq!(site.requests("enforce")? - before, asked, "{pod}: {}", done.stderr);
    }
    Ok(())
}

/// Pods without a sign: every annotation, label, container and resource is looked at.
fn largest(plane: &Plane) -> Outcome {
    let site = Site::start(plane, &[], &[])?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let containers = |n: usize| -> Vec<Value> {
        let native = json!({"cpu": 1, "memory": "1", "ephemeral-storage": "1", "hugepages-2Mi": "0"});
        (0..n)
            .map(|i| json!({"name": format!("c{i}"), "image": "a", "resources": {"limits": native, "requests": native}}))
            .collect()
    };
    let mut all = with(&["metadata", "annotations"], map(26_000, "a", "").into());
    all["metadata"]["labels"] = map(20_000, "a", "").into();
    all["spec"]["containers"] = containers(2_000).into();
    // In a dry run, a pod may be larger than etcd takes.
    let searched = |name: &str, n: usize, resources: usize| -> Value {
        let native = json!({"limits": hugepages(resources), "requests": hugepages(resources)});
        (0..n).map(|i| json!({"name": format!("{name}{i}"), "image": "a", "resources": native})).collect()
    };
    let mut most = with(&["spec", "containers"], searched("c", 1_500, 8));
    most["spec"]["initContainers"] = searched("i", 1_500, 8);
    for (name, pod) in [
        ("as many as are searched", most),
        ("many containers", with(&["spec", "containers"], searched("c", 3_000, 18))),
        ("many resources", with(&["spec", "containers"], searched("c", 1_000, 60))),
    ] {
        let done = site.create(&namespace, &pod, &["--dry-run=server", "--validate=ignore"])?;
        // The webhook is asked about more than is searched, and has limits of its own.
        let limit = name != "as many as are searched" && done.stderr.contains("status code 413");
        assert!(done.ok || limit, "{name}: {}", done.stderr);
    }
    let mut api = Creator::new(plane);
    for (name, pod) in [
        ("annotations", with(&["metadata", "annotations"], map(26_000, "a", "").into())),
        ("labels", with(&["metadata", "labels"], map(80_000, "a", "").into())),
        ("containers", with(&["spec", "containers"], containers(3_000).into())),
        ("all of them", all),
    ] {
        let size = pod.to_string().len();
        let created = api.create(&namespace, &pod)?;
        assert!(created.is_ok(), "{name} of {size} bytes: {created:?}");
    }
    Ok(())
}
