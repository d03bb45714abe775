//! `discover` of clusters with many groups of nodes, each with objects of its own: no group is compared with the objects of
//! all others.

use super::offline_review::{FLOOR, ran};
use super::{TIMES, Taken, compare, given, verdict};
use crate::support::Scratch;
use crate::support::suite::Outcome;
use serde_json::{Value, json};

/// The larger input (bytes). In much shorter ones, reading them costs more than a comparison of all with all.
const LARGE: usize = 1 << 20;
/// In proportion it is 8; a comparison of all with all gave 15 to 60.
const MOST: f64 = 12.5;

const GROUP: &str = "eks.amazonaws.com/nodegroup";
const NAMESPACE: &str = "sriov-network-operator";

/// The objects of the group with this number.
type Make = fn(usize) -> Vec<Value>;

/// Name, arguments, and objects.
const SHAPES: [(&str, &str, Make); 9] = [
    ("a profile for each group", "discover --cluster", |i| {
        let mut all = whole(i);
        all.push(profile(i, &json!({"pool": format!("q{i}")})));
        all
    }),
    ("a profile for each group, compared", "discover --diff --cluster", |i| {
        let mut all = whole(i);
        all.push(profile(i, &json!({"pool": format!("q{i}")})));
        all
    }),
    ("a profile for each group whose fabric is unknown, compared", "discover --diff --cluster", |i| {
        vec![node(i, &format!("rdma/x{i}")), profile(i, &json!({GROUP: format!("g{i}")}))]
    }),
    ("a fabric for each group", "discover --cluster", whole),
    ("a policy for each group", "discover --cluster", |i| vec![node(i, &resource(i)), policy(i)]),
    ("networks that are given twice, beside nodes", "discover --cluster", |i| {
        vec![network(i, "r/1"), network(i, "r/2"), node(i, "example")]
    }),
    ("networks of GKE for each group", "discover --cluster", |i| {
        let labels = json!({"cloud.google.com/gke-nodepool": format!("g{i}"), "cloud.google.com/gke-accelerator": "nvidia-h100"});
        let mut node = node(i, &format!("networking.gke.io.networks/n{i}"));
        node["metadata"]["labels"] = labels;
        let network = json!({"apiVersion": "networking.gke.io/v1", "kind": "Network", "metadata": {"name": format!("n{i}")},
            "spec": {"parametersRef": {"kind": "GKENetworkParamSet", "name": format!("n{i}")}}});
        vec![node, network]
    }),
    ("nodes whose fabrics differ only in their numbers", "discover --cluster", |i| {
        let mut node = node(i, "nvidia.com/gpu");
        node["metadata"]["labels"] = json!({"node.kubernetes.io/instance-type": format!("t{i}")});
        node["spec"] = json!({"providerID": "aws:///x/i-1"});
        node["status"]["allocatable"] =
            json!({"nvidia.com/gpu": (i % 64 + 1).to_string(), "vpc.amazonaws.com/efa": (i + 1).to_string()});
        vec![node]
    }),
    ("a fabric for each node, with labels that do not separate it", "discover --cluster", |i| {
        let labels = |others: usize| {
            let common = (0..24).map(|at| (format!("c{at}"), json!("1")));
            let all = common.chain((0..others).map(|at| (format!("x{at}"), json!("1"))));
            Value::Object(all.collect())
        };
        let mut unknown = node(i, "nvidia.com/gpu");
        unknown["metadata"] = json!({"name": format!("a{i}"), "labels": labels(40)});
        let mut alike = node(i, &resource(i));
        alike["metadata"]["labels"] = labels(0);
        vec![unknown, alike, network(i, &resource(i))]
    }),
];

fn resource(i: usize) -> String {
    format!("openshift.io/r{i}")
}

fn node(i: usize, resource: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Node",
        "metadata": {"name": format!("n{i}"), "labels": {GROUP: format!("g{i}"), "pool": format!("q{i}")}},
        "status": {"allocatable": {"nvidia.com/gpu": "8", resource: "8"}}})
}

fn policy(i: usize) -> Value {
    json!({"apiVersion": "sriovnetwork.openshift.io/v1", "kind": "SriovNetworkNodePolicy",
        "metadata": {"name": format!("p{i}"), "namespace": NAMESPACE},
        "spec": {"resourceName": format!("r{i}"), "numVfs": 8, "isRdma": true, "linkType": "eth",
            "nodeSelector": {GROUP: format!("g{i}")}, "nicSelector": {"vendor": "15b3", "pfNames": [format!("e{i}")]}}})
}

fn network(i: usize, resource: &str) -> Value {
    json!({"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition",
        "metadata": {"name": format!("n{i}"), "namespace": "default", "annotations": {"k8s.v1.cni.cncf.io/resourceName": resource}},
        "spec": {"config": "{\"cniVersion\":\"1.0.0\",\"type\":\"sriov\",\"name\":\"n\",\"ipam\":{\"type\":\"nv-ipam\",\"poolName\":\"x\"}}"}})
}

fn profile(i: usize, labels: &Value) -> Value {
    json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": {"name": format!("p{i}")},
        "spec": {"base": "roce-sriov", "nodeSelector": {"matchLabels": labels}}})
}

/// A group with everything that its fabric needs.
fn whole(i: usize) -> Vec<Value> {
    vec![node(i, &resource(i)), policy(i), network(i, &resource(i))]
}

fn list(make: Make, bytes: usize) -> Vec<u8> {
    let (mut items, mut length) = (Vec::new(), 0);
    for i in 0.. {
        let objects = make(i);
        length += objects.iter().map(|object| object.to_string().len()).sum::<usize>();
        items.extend(objects);
        if length > bytes {
            break;
        }
    }
    json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string().into_bytes()
}

/// A node with many resources, each with a network.
fn resources(bytes: usize) -> Vec<u8> {
    let items = node_with_resources(bytes / 300 + 1);
    json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string().into_bytes()
}

/// The same, and many profiles that select it.
fn resources_and_profiles(bytes: usize) -> Vec<u8> {
    let mut items = node_with_resources(bytes / 600 + 1);
    items.extend((0..bytes / 400).map(|i| profile(i, &json!({GROUP: "g0"}))));
    json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string().into_bytes()
}

/// A node of an unknown fabric whose instance type is long, and many profiles that select it.
fn long_type_and_profiles(bytes: usize) -> Vec<u8> {
    let mut node = node(0, "nvidia.com/gpu");
    node["metadata"]["labels"]["node.kubernetes.io/instance-type"] =
        format!("p5.{}", "x".repeat(bytes / 2)).into();
    node["spec"] = json!({"providerID": "aws:///x/i-1"});
    let profiles = (0..bytes / 400).map(|i| profile(i, &json!({GROUP: "g0"})));
    let items: Vec<Value> = std::iter::once(node).chain(profiles).collect();
    json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string().into_bytes()
}

fn node_with_resources(number: usize) -> Vec<Value> {
    let mut node = node(0, "nvidia.com/gpu");
    for i in 0..number {
        node["status"]["allocatable"][resource(i)] = "8".into();
    }
    let networks = (0..number).map(|i| network(i, &resource(i)));
    std::iter::once(node).chain(networks).collect()
}

pub(super) fn proportionate() -> Outcome {
    let scratch = Scratch::new()?;
    let only: Option<String> = given("FABRIC_ADMISSION_COST_ONLY");
    let of = |label: &str, arguments: &str, make: &dyn Fn(usize) -> Vec<u8>| -> Option<Taken> {
        if only.as_ref().is_some_and(|part| !label.contains(part)) {
            return None;
        }
        let cost = |input: &[u8], times: usize| {
            scratch.write("input", input).unwrap();
            let once = || ran(&format!("{arguments} input"), &scratch).unwrap();
            (0..times).map(|_| once()).min().unwrap_or_default()
        };
        Some(compare(label.to_owned(), [0, LARGE / TIMES, LARGE].map(make), FLOOR, cost))
    };
    let mut taken: Vec<Taken> = SHAPES
        .iter()
        .filter_map(|(label, arguments, make)| of(label, arguments, &|bytes| list(*make, bytes)))
        .collect();
    taken.extend(of("a node with many resources", "discover --cluster", &resources));
    let compared = "discover --diff --cluster";
    taken.extend(of("a node with many resources and many profiles", compared, &resources_and_profiles));
    taken.extend(of("a long instance type and many profiles", compared, &long_type_and_profiles));
    verdict("discover", &taken, taken.len(), MOST)
}
