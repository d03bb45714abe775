//! The real scheduler beside our node filter: pods and nodes by chance, each pod bound to a node that we let it land
//! on, or left pending where we say that there is none. Nothing asks for resources, so that only labels, taints and
//! names decide.

use super::support::plane::{Plane, TOKEN};
use super::trial;
use crate::facts::where_pods_may_land;
use crate::support::generated_documents::{Dice, Documents};
use crate::support::generated_nodes;
use crate::support::server::Client;
use crate::support::suite::{Outcome, Suite};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Child;
use std::time::Duration;

const NODES: usize = 60;
const PODS: usize = 300;
/// Label that every node has a value of its own for.
const OWN: &str = "example.com/own";
const CONNECTIONS: usize = 4;
/// Another: `PROPTEST_RNG_SEED`.
const SEED: u64 = 20;

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    if !assets.join("kube-scheduler").is_file() {
        suite.missing("no kube-scheduler; set KUBEBUILDER_ASSETS", "e2e::scheduler");
        return;
    }
    trial(suite, assets, "pods_land_where_the_scheduler_puts_them", land);
}

fn case(dice: &mut Dice<'_>) -> Value {
    let nodes = (0..NODES).map(|i| {
        let mut node = generated_nodes::node(i, dice);
        node["metadata"]["labels"][OWN] = format!("n{i}").into();
        node["status"] = json!({
            "allocatable": {"pods": "1000"}, "capacity": {"pods": "1000"},
            "conditions": [{"type": "Ready", "status": "True"}],
        });
        node
    });
    let nodes: Vec<Value> = nodes.collect();
    let pods = (0..PODS).map(|i| {
        let mut spec = generated_nodes::spec(dice);
        if dice.percent(60) {
            // One node is asked for; else whatever fits another node hides what is wrong about it.
            spec["nodeSelector"] = json!({OWN: format!("n{}", dice.below(NODES))});
            if dice.percent(60) {
                spec.as_object_mut().map(|s| s.remove("affinity"));
            }
        }
        spec["containers"] = json!([{"name": "c", "image": "example.com/c:1"}]);
        // The API server gives new nodes this taint, and there is nobody to take it off.
        let ready =
            json!({"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoSchedule"});
        match spec["tolerations"].as_array_mut() {
            Some(tolerations) => tolerations.push(ready),
            None => spec["tolerations"] = json!([ready]),
        }
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": format!("p{i}")}, "spec": spec})
    });
    json!({"pods": pods.collect::<Vec<_>>(), "nodes": nodes})
}

/// The scheduler, and the nodes of the trial; both go when it is dropped.
struct Scheduler<'a> {
    plane: &'a Plane,
    child: Child,
}

impl Drop for Scheduler<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = self.plane.kubectl(&["delete", "--raw", "/api/v1/nodes"], "");
    }
}

impl<'a> Scheduler<'a> {
    fn start(plane: &'a Plane) -> Result<Self, String> {
        // Its usual 50 requests a second would be all that is measured.
        let config = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n\
            leaderElection: {leaderElect: false}\nclientConnection: {kubeconfig: kubeconfig, qps: 2000, burst: 2000}\n";
        std::fs::write(plane.directory().join("scheduler.yaml"), config).map_err(|e| e.to_string())?;
        let child = plane.child("kube-scheduler", &["--config=scheduler.yaml", "--secure-port=0"])?;
        Ok(Self { plane, child })
    }
}

fn land(plane: &Plane) -> Outcome {
    let seed = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(SEED);
    Ok(compare(plane, seed).map_err(|error| format!("{error}\nseed {seed}"))?)
}

fn compare(plane: &Plane, seed: u64) -> Result<(), String> {
    let config = Config { rng_seed: RngSeed::Fixed(seed), failure_persistence: None, ..Config::default() };
    let tree = Documents(case).new_tree(&mut TestRunner::new(config)).map_err(|e| e.to_string())?;
    let case = tree.current().0;
    let namespace = plane.namespace(&[])?;
    let pods = format!("/api/v1/namespaces/{namespace}/pods");
    let mut scheduler = Scheduler::start(plane)?;
    create(plane, "/api/v1/nodes", &case["nodes"])?;
    let nodes = list(plane, "/api/v1/nodes")?;
    if nodes.len() != NODES {
        return Err(format!("{} nodes", nodes.len()));
    }
    let snapshot = where_pods_may_land::snapshot(nodes.iter())?;
    create(plane, &pods, &case["pods"])?;
    let mut found: BTreeMap<String, Option<String>> = BTreeMap::new();
    let done = plane.until("every pod is bound, or known to fit no node", Duration::from_secs(60), || {
        if let Ok(Some(status)) = scheduler.child.try_wait() {
            return Err(format!("{status}: {}", plane.log_tail("kube-scheduler")));
        }
        found = list(plane, &pods)?.iter().filter_map(placed).collect();
        Ok(found.len() == PODS)
    });
    done.map_err(|e| format!("{e}: {} of {PODS}; {}", found.len(), plane.log_tail("kube-scheduler")))?;
    let view = snapshot.nodes_for_audience();
    let (mut bound, mut wrong) = (0, Vec::new());
    for pod in list(plane, &pods)? {
        let name = pod["metadata"]["name"].as_str().unwrap_or_default();
        let Some(place) = found.get(name) else { continue };
        // Binding wrote this; the pod did not request it.
        let mut asked = pod.clone();
        asked["spec"].as_object_mut().map(|s| s.remove("nodeName"));
        let classes = where_pods_may_land::classes(&asked, view)?;
        let fits = match place {
            Some(node) => view.class_number_of_node(node).is_some_and(|class| classes.contains(&class)),
            None => classes.is_empty(),
        };
        bound += usize::from(place.is_some());
        if !fits {
            wrong.push(format!("{name} is on {place:?}; classes {classes:?} for {}", asked["spec"]));
        }
    }
    if !wrong.is_empty() {
        return Err(wrong.join("\n"));
    }
    // Cases that all land, or that never do, would show nothing.
    if (PODS / 6..PODS * 5 / 6).contains(&bound) { Ok(()) } else { Err(format!("{bound} are bound")) }
}

/// A pod's name, and its node; `None` where it was found to fit none, nothing at all where it waits.
fn placed(pod: &Value) -> Option<(String, Option<String>)> {
    let name = pod["metadata"]["name"].as_str()?.to_owned();
    if let Some(node) = pod["spec"]["nodeName"].as_str() {
        return Some((name, Some(node.to_owned())));
    }
    let mut conditions = pod["status"]["conditions"].as_array()?.iter();
    let unschedulable = |c: &Value| c["type"] == "PodScheduled" && c["reason"] == "Unschedulable";
    conditions.any(unschedulable).then_some((name, None))
}

fn head(method: &str, path: &str, length: usize) -> String {
    format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\nAccept: application/json\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    )
}

fn list(plane: &Plane, path: &str) -> Result<Vec<Value>, String> {
    let mut client = Client::connect(SocketAddr::from(([127, 0, 0, 1], plane.port)), &plane.ca())?;
    let answer = client.send(head("GET", path, 0).as_bytes(), b"")?;
    let list = answer.json()?;
    list["items"].as_array().cloned().ok_or_else(|| answer.body.clone())
}

/// Creates objects over a few connections.
fn create(plane: &Plane, path: &str, objects: &Value) -> Result<(), String> {
    let objects = objects.as_array().ok_or("no objects")?;
    let address = SocketAddr::from(([127, 0, 0, 1], plane.port));
    std::thread::scope(|scope| {
        let workers = objects.chunks(objects.len().div_ceil(CONNECTIONS)).map(|part| {
            scope.spawn(move || {
                let mut client = Client::connect(address, &plane.ca())?;
                for object in part {
                    let body = object.to_string();
                    let answer = client.send(head("POST", path, body.len()).as_bytes(), body.as_bytes())?;
                    if answer.status != 201 {
                        return Err(format!("{} {} for {body}", answer.status, answer.body));
                    }
                }
                Ok(())
            })
        });
        let workers: Vec<_> = workers.collect();
        workers.into_iter().try_for_each(|w| w.join().unwrap_or_else(|_| Err("a worker panicked".into())))
    })
}
