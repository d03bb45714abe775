//! Thousands of nodes on the real API server: followed while they are made and listed by a server that starts later.

use super::changes_in_a_live_cluster::{Objects, gets, pod, start};
use super::support::api::Api;
use super::support::plane::Plane;
use super::support::site::{PROFILE_LABEL, Site};
use super::trial;
use crate::support::server::Server;
use crate::support::suite::{Outcome, Suite};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "live_five_thousand_nodes_come_and_go", five_thousand);
}

const NODES: usize = 5000;
const CONNECTIONS: usize = 8;

/// A node as a kubelet and the usual labellers leave it: four products, of which the site knows three.
fn node(nth: usize) -> Value {
    let products = [
        ("NVIDIA-H100-80GB-HBM3", "roce", "nvidia.com/roce_vfs"),
        ("NVIDIA-H200", "infiniband", "nvidia.com/ib_vfs"),
        ("NVIDIA-B200", "infiniband", "nvidia.com/ib_vfs"),
        ("none", "none", "example.com/none"),
    ];
    let (product, fabric, resource) = products[nth % products.len()];
    let name = format!("many-{nth}");
    let kubelet: Vec<Value> = (0..20)
        .map(|n| json!({"names": [format!("registry.example.com/images/{n}@sha256:{n:064}")], "sizeBytes": 4096}))
        .collect();
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {
            "kubernetes.io/hostname": name, "topology.kubernetes.io/zone": format!("hall-{}", nth % 12),
            "example.com/fabric": fabric, "nvidia.com/gpu.present": "true", "nvidia.com/gpu.product": product,
        }},
        "spec": {"taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]},
        "status": {"allocatable": {"cpu": "190", "pods": "110", "nvidia.com/gpu": "8", resource: "8"}, "images": kubelet}
    })
}

/// Does something with each of the nodes, over some connections at once; how long that took.
fn each(
    plane: &Plane,
    what: impl Fn(&mut Api, usize) -> Result<(), String> + Sync,
) -> Result<Duration, String> {
    let start = Instant::now();
    let worker = |first: usize| -> Result<(), String> {
        let mut api = Api::connect(plane)?;
        (first..NODES).step_by(CONNECTIONS).try_for_each(|nth| what(&mut api, nth))
    };
    let worker = &worker;
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..CONNECTIONS).map(|first| scope.spawn(move || worker(first))).collect();
        workers.into_iter().try_for_each(|w| w.join().map_err(|_| "a worker panicked")?)
    })?;
    Ok(start.elapsed())
}

fn nodes(server: &Server) -> Result<usize, String> {
    let text = server.admin("/metrics")?.body;
    let line = text.lines().find_map(|l| l.strip_prefix("fabric_admission_watch_objects{kind=\"Node\"} "));
    line.unwrap_or("0").parse().map_err(|e| format!("{e}"))
}

/// Waits until a server knows so many nodes; how long that took.
fn knows(plane: &Plane, server: &Server, count: usize) -> Result<Duration, String> {
    let start = Instant::now();
    plane
        .until(&format!("{count} nodes are known"), Duration::from_secs(30), || Ok(nodes(server)? == count))
        .map_err(|e| format!("{e}: {:?}", nodes(server)))?;
    Ok(start.elapsed())
}

fn five_thousand(plane: &Plane) -> Outcome {
    let _objects = Objects::create(plane)?;
    let site: Site<'_> = start(plane)?;
    let namespace = plane.namespace(&[PROFILE_LABEL])?;
    let b200 = pod("a", "NVIDIA-B200");
    gets(&site, &namespace, &b200, "")?;
    let few = nodes(&site.server)?;
    let made = each(plane, |api, nth| api.call("POST", "/api/v1/nodes", &node(nth)))?;
    let followed = knows(plane, &site.server, few + NODES)?;
    // Of a product that no node had before.
    gets(&site, &namespace, &b200, "fabric/infiniband")?;
    gets(&site, &namespace, &pod("b", "NVIDIA-H100-80GB-HBM3"), "fabric/roce")?;
    // A server that starts now has them in pages of a hundred.
    let kubeconfig = plane.directory().join("kubeconfig").to_string_lossy().into_owned();
    let begun = Instant::now();
    let late = Server::start(&[], &["--kubeconfig", &kubeconfig])?;
    plane.until("the late server is ready", Duration::from_secs(20), || {
        Ok(late.admin("/readyz")?.status == 200)
    })?;
    let ready = begun.elapsed();
    assert_eq!(nodes(&late)?, few + NODES);
    // The last of a product goes, and with it what its pods get.
    let gone =
        each(plane, |api, nth| api.call("DELETE", &format!("/api/v1/nodes/many-{nth}"), &Value::Null))?;
    let forgotten = knows(plane, &site.server, few)?;
    knows(plane, &late, few)?;
    gets(&site, &namespace, &b200, "")?;
    gets(&site, &namespace, &pod("b", "NVIDIA-H100-80GB-HBM3"), "fabric/roce")?;
    eprintln!(
        "{NODES} nodes made in {made:?}, known {followed:?} later; a later start is ready after {ready:?}; deleted in \
         {gone:?}, forgotten {forgotten:?} later"
    );
    Ok(())
}
