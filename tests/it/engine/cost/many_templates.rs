//! Workloads of many templates beside known nodes and networks: shapes for [`super::beside_known_objects`].

use super::beside_known_objects::{Object, Shape};
use serde_json::{Map, Value, json};

pub(super) const SHAPES: [Shape; 3] = [
    ("templates with resources, and kinds of nodes that list them", |n| {
        let nodes = (0..n * 5).map(|i| node(i, &resources(8)));
        (job_set(&pod(&resources(1)), n / 13), nodes.collect())
    }),
    ("templates with a RoCE device, and networks over it in other namespaces", |n| {
        let devices = Map::from_iter([("openshift.io/rdma".to_owned(), 8.into())]);
        let networks = (0..n * 24).map(|i| network(&format!("ns{i}")));
        (job_set(&pod(&devices), n / 13), networks.chain([policy()]).collect())
    }),
    ("templates, and kinds of nodes with several taints", |n| {
        // Sixty taints in all, in other combinations on each kind.
        let taint = |of: usize, value: usize| json!({"key": format!("of{of}"), "value": format!("{value}"), "effect": "NoSchedule"});
        let taints = |i: usize| {
            json!([taint(0, i % 15), taint(1, i / 15 % 15), taint(2, i / 225 % 15), taint(3, i % 14)])
        };
        let tainted = |i: usize| {
            let (group, kind, namespace, mut object) = node(i, &Map::new());
            object["spec"] = json!({ "taints": taints(i) });
            (group, kind, namespace, object)
        };
        let mut pod = pod(&Map::new());
        pod["spec"]["tolerations"] = json!([{"operator": "Exists", "effect": "NoSchedule"}]);
        (job_set(&pod, n / 13), (0..n * 5).map(tainted).collect())
    }),
];

fn resources(units: u32) -> Map<String, Value> {
    (0..10).map(|k| (format!("example.com/r{k}"), units.into())).collect()
}

fn pod(limits: &Map<String, Value>) -> Value {
    let mut limits = limits.clone();
    limits.insert("nvidia.com/gpu".to_owned(), 1.into());
    json!({"spec": {"containers": [{"image": "x", "resources": {"limits": limits}}]}})
}

fn job_set(pod: &Value, templates: usize) -> Value {
    json!({"kind": "JobSet", "apiVersion": "jobset.x-k8s.io/v1", "spec": {"templates": vec![pod; templates]}})
}

/// A node of a kind of its own.
fn node(nth: usize, resources: &Map<String, Value>) -> Object {
    let mut listed = resources.clone();
    listed.extend([("nvidia.com/gpu".to_owned(), "8".into()), ("cpu".to_owned(), "64".into())]);
    let labels = json!({"rack": format!("r{nth}"), "fabric": "roce"});
    let object = json!({"metadata": {"name": format!("n{nth}"), "labels": labels},
        "status": {"allocatable": listed}});
    ("", "Node", "", object)
}

/// A network over the device of [`policy`].
fn network(namespace: &str) -> Object {
    let config = json!({"cniVersion": "1.0.0", "name": "x", "type": "sriov"}).to_string();
    let annotations = json!({"k8s.v1.cni.cncf.io/resourceName": "openshift.io/rdma"});
    let object = json!({"metadata": {"name": "rail", "namespace": namespace, "annotations": annotations},
        "spec": {"config": config}});
    ("k8s.cni.cncf.io", "NetworkAttachmentDefinition", "", object)
}

fn policy() -> Object {
    let spec = json!({"resourceName": "rdma", "numVfs": 8, "isRdma": true, "linkType": "eth",
        "nicSelector": {"vendor": "15b3", "pfNames": ["ens1f0np0"]}, "nodeSelector": {"fabric": "roce"}});
    let object = json!({"metadata": {"name": "rdma", "namespace": "sriov-network-operator"}, "spec": spec});
    ("sriovnetwork.openshift.io", "SriovNetworkNodePolicy", "sriov-network-operator", object)
}
