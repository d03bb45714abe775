//! How soon the next pod knows: a label of nodes, a network or a profile changes, and the webhook is asked at once and
//! again until its answer is the new one.

use super::changes_in_a_live_cluster::{Objects, pod, start};
use super::support::api::{Api, first_network, question};
use super::support::plane::Plane;
use super::support::site::Site;
use super::trial;
use crate::support::server::Client;
use crate::support::suite::{Outcome, Suite};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "live_a_change_is_known_to_the_next_pod_within_a_second", every_change);
}

const ROUNDS: usize = 9;
const SECOND: Duration = Duration::from_secs(1);

const NETWORKS: &str = "/apis/k8s.cni.cncf.io/v1/namespaces/fabric/network-attachment-definitions";
const PROFILES: &str = "/apis/fabric-admission.dev/v1alpha1/fabricprofiles";

/// What changes, and what the pod gets before and after.
struct Change {
    what: &'static str,
    /// Product of the nodes that the pod asks for.
    product: &'static str,
    /// Network, method, path and body of the call that leads to it.
    turns: [(&'static str, &'static str, String, Value); 2],
}

fn changes() -> Vec<Change> {
    let label = |value: &str| json!({"metadata": {"labels": {"example.com/fabric": value}}});
    let rails = |network: &str, resource: &str| json!({"spec": {"rails": [{"network": network, "resource": resource, "count": 8}]}});
    let network = json!({
        "apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition", "metadata": {"name": "roce"},
        "spec": {"config": "{\"cniVersion\": \"1.0.0\", \"name\": \"roce\", \"type\": \"sriov\"}"}
    });
    let node = || "/api/v1/nodes/h200-1".to_owned();
    let profile = || format!("{PROFILES}/roce");
    vec![
        Change {
            what: "a label of a node",
            product: "NVIDIA-H200",
            turns: [
                ("fabric/roce", "PATCH", node(), label("roce")),
                ("fabric/infiniband", "PATCH", node(), label("infiniband")),
            ],
        },
        Change {
            what: "a network",
            product: "NVIDIA-H100-80GB-HBM3",
            turns: [
                ("", "DELETE", format!("{NETWORKS}/roce"), Value::Null),
                ("fabric/roce", "POST", NETWORKS.to_owned(), network),
            ],
        },
        Change {
            what: "a profile",
            product: "NVIDIA-H100-80GB-HBM3",
            turns: [
                ("fabric/infiniband", "PATCH", profile(), rails("fabric/infiniband", "nvidia.com/ib_vfs")),
                ("fabric/roce", "PATCH", profile(), rails("fabric/roce", "nvidia.com/roce_vfs")),
            ],
        },
    ]
}

/// Makes every change and takes it back, so many times. Each is known within a second; the times, by change.
pub(super) fn are_known(
    site: &Site<'_>,
    rounds: usize,
) -> Result<Vec<(&'static str, Vec<Duration>)>, String> {
    let mut api = Api::connect(site.plane)?;
    let mut client = site.server.client()?;
    let mut measured = Vec::new();
    for change in changes() {
        let pod = pod("a", change.product);
        let mut times = Vec::new();
        for _ in 0..rounds {
            for (wanted, method, path, body) in &change.turns {
                api.call(method, path, body)?;
                times.push(until(&mut client, &pod, wanted).map_err(|e| format!("{}: {e}", change.what))?);
            }
        }
        times.sort();
        measured.push((change.what, times));
    }
    Ok(measured)
}

/// Asks until the pod gets a network; how long that took.
fn until(client: &mut Client, pod: &Value, wanted: &str) -> Result<Duration, String> {
    let (body, start) = (question(pod), Instant::now());
    loop {
        let found = first_network(pod, &client.post("/mutate", body.as_bytes())?.json()?)?;
        let took = start.elapsed();
        if found == wanted && took <= SECOND {
            return Ok(took);
        }
        if took > SECOND {
            return Err(format!("after {took:?} the pod gets {found:?}, not {wanted:?}"));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn every_change(plane: &Plane) -> Outcome {
    let _objects = Objects::create(plane)?;
    // One node a product, so that one label decides.
    Api::connect(plane)?.call("DELETE", "/api/v1/nodes/h200-2", &Value::Null)?;
    let site = start(plane)?;
    for (what, times) in are_known(&site, ROUNDS)? {
        assert_eq!(times.len(), 2 * ROUNDS);
        eprintln!(
            "{what} is known after {:?} (median of {}), {:?} at most",
            times[ROUNDS],
            times.len(),
            times[times.len() - 1]
        );
    }
    Ok(())
}
