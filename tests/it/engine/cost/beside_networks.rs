//! Pods whose networks, resources, labels and variables are each compared with one another, or with what is known:
//! shapes for [`super::beside_known_objects`].

use super::beside_known_objects::{Object, Shape};
use serde_json::{Map, Value, json};

pub(super) const SHAPES: [Shape; 12] = [
    ("containers with an old NCCL, and names of resources beside shared networks", |n| {
        let old = json!({"image": "x:nccl2.19.3", "resources": {"limits": {"nvidia.com/gpu": "1", "rdma/a_roce": "1"}}});
        let more = named(n * 4, "ab/", "1").into_iter().chain(vec![old; n / 4]);
        (pod(&vec!["m".to_owned(); 64], more.collect()), vec![macvlan("m", json!({}))])
    }),
    ("shared networks, and names of resources beside variables on them", |n| {
        let env = ["NCCL_IB_HCA", "NCCL_SOCKET_IFNAME", "NCCL_IB_GID_INDEX"]
            .map(|name| json!({"name": name, "value": "3"}));
        let user = json!({"image": "x", "env": env, "resources": {"limits": {"nvidia.com/gpu": "1", "rdma/a_roce": "1"}}});
        let more = named(n * 8, "ab/", "1").into_iter().chain([user]);
        (pod(&vec!["m".to_owned(); (n / 13).min(64)], more.collect()), vec![macvlan("m", json!({}))])
    }),
    ("mounts, words and items of a ConfigMap, and containers", |n| {
        let mounts = vec![json!({"name": "v", "mountPath": "/m"}); 16];
        let container = json!({"image": "x", "args": vec!["/m/a"; 16], "volumeMounts": mounts});
        let mut made = pod(&[], vec![container; n / 10]);
        made["spec"]["volumes"] =
            json!([{"name": "v", "configMap": {"name": "m", "items": vec![json!({}); n * 6]}}]);
        let map = json!({"metadata": {"name": "m", "namespace": "team"}, "data": {"run.sh": "export NCCL_DEBUG=INFO\n"}});
        (made, vec![("", "ConfigMap", "team", map)])
    }),
    ("networks without a unit, and quantities that nobody can read", |n| {
        (
            pod(&names(n * 6), named(n * 16, "a/", "x")),
            (0..n * 6).map(|i| sriov(i, &format!("r.io/x{i}"))).collect(),
        )
    }),
    ("networks without a unit, and RDMA devices of other containers", |n| {
        let rdma = |i: usize| policy(&format!("{i:x}"));
        let networks = (0..n * 12).map(|i| sriov(i, &format!("r.io/x{i}")));
        let pod = pod(&names(n * 12), named(n * 8, "openshift.io/", "1"));
        (pod, networks.chain((0..n * 8).map(rdma)).collect())
    }),
    ("attachments of a network with a node label, and entries of the node selector", |n| {
        let mut pod = pod(&vec!["m".to_owned(); n * 20], vec![]);
        let selector: Map<_, _> = (0..n * 10).map(|i| (format!("{i:x}"), "".into())).collect();
        pod["spec"]["nodeSelector"] = selector.into();
        (served(pod), vec![serving(), macvlan("m", json!({"k8s.v1.cni.cncf.io/nodeSelector": "zone=z"}))])
    }),
    ("networks that each have a node label of their own", |n| {
        let labelled = |i: usize| {
            macvlan(&format!("n{i}"), json!({"k8s.v1.cni.cncf.io/nodeSelector": format!("zone{i}=z")}))
        };
        (served(pod(&names(n * 30), vec![])), (0..n * 30).map(labelled).chain([serving()]).collect())
    }),
    ("networks on nodes in exclusive RDMA mode, and variables", |n| {
        let mut pod = pod(&names(n), vec![]);
        pod["spec"]["containers"][0]["env"] = json!(vec![json!({}); n * 10]);
        let networks = (0..n).map(|i| sriov(i, "openshift.io/rail0"));
        (pod, networks.chain([policy("rail0"), exclusive()]).collect())
    }),
    ("variables from labels, and labels", |n| {
        let labels: Map<_, _> = (0..n * 20).map(|i| (format!("{i:x}"), "".into())).collect();
        let mut pod = from_fields(n, json!({"fieldRef": {"fieldPath": "metadata.labels['z']"}}));
        pod["metadata"]["labels"] = labels.into();
        (pod, vec![])
    }),
    ("variables from resources of a container, and containers", |n| {
        let from = json!({"resourceFieldRef": {"containerName": "zz", "resource": "limits.cpu"}});
        let mut pod = from_fields(n * 5, from);
        let more = (0..n * 5).map(|i| json!({"name": format!("{i:x}")}));
        pod["spec"]["containers"].as_array_mut().unwrap().extend(more);
        (pod, vec![])
    }),
    ("mounts, and a long word", |n| {
        let mut pod = pod(&[], vec![]);
        pod["spec"]["containers"][0]["volumeMounts"] =
            json!(vec![json!({"name": "v", "mountPath": "/aaaaaaaaaaab"}); n / 13]);
        pod["spec"]["containers"][0]["args"] = json!([format!("/{}", "a".repeat(n * 400))]);
        pod["spec"]["volumes"] = json!([{"name": "v", "configMap": {"name": "m"}}]);
        let map = json!({"metadata": {"name": "m", "namespace": "team"}, "data": {"run.sh": "export NCCL_DEBUG=INFO\n"}});
        (pod, vec![("", "ConfigMap", "team", map)])
    }),
    ("names of NCCL_SOCKET_IFNAME, and interfaces of the pod", |n| {
        let mut pod = pod(&vec!["m".to_owned(); (n / 100).pow(2).min(64)], vec![]);
        let value = format!("={}", "z,".repeat(n * 100));
        pod["spec"]["containers"][0]["env"] = json!([{"name": "NCCL_SOCKET_IFNAME", "value": value}]);
        (pod, vec![macvlan("m", json!({}))])
    }),
];

/// A pod with accelerators, networks and more containers.
fn pod(networks: &[String], more: Vec<Value>) -> Value {
    let own = json!({"name": "a", "image": "x", "resources": {"limits": {"nvidia.com/gpu": 8}}});
    let containers: Vec<Value> = std::iter::once(own).chain(more).collect();
    json!({"metadata": {"annotations": {"k8s.v1.cni.cncf.io/networks": networks.join(",")}},
        "spec": {"tolerations": [{"operator": "Exists"}], "containers": containers}})
}

/// The same under the profile that serves the pod's own networks.
fn served(mut pod: Value) -> Value {
    pod["metadata"]["annotations"]["fabric-admission.dev/profile"] = "nets".into();
    pod
}

/// A pod under the profile, with so many variables from one source.
fn from_fields(variables: usize, from: Value) -> Value {
    let mut pod = pod(&[], vec![]);
    pod["metadata"]["annotations"] = json!({"fabric-admission.dev/profile": "p"});
    pod["spec"]["containers"][0]["env"] = json!(vec![json!({"name": "A", "valueFrom": from}); variables]);
    pod
}

fn names(n: usize) -> Vec<String> {
    (0..n).map(|i| format!("n{i}")).collect()
}

/// Containers that list so many resources.
fn named(n: usize, prefix: &str, quantity: &str) -> Vec<Value> {
    let all: Vec<usize> = (0..n).collect();
    let limits = |part: &[usize]| -> Map<_, _> {
        part.iter().map(|i| (format!("{prefix}{i:x}"), quantity.into())).collect()
    };
    all.chunks(64).map(|part| json!({"image": "x", "resources": {"limits": limits(part)}})).collect()
}

fn macvlan(name: &str, annotations: Value) -> Object {
    network(name, "macvlan", annotations)
}

fn sriov(nth: usize, resource: &str) -> Object {
    network(&format!("n{nth}"), "sriov", json!({"k8s.v1.cni.cncf.io/resourceName": resource}))
}

fn network(name: &str, plugin: &str, annotations: Value) -> Object {
    let config = json!({"cniVersion": "1.0.0", "name": "x", "type": plugin}).to_string();
    let object = json!({"metadata": {"name": name, "namespace": "team", "annotations": annotations}, "spec": {"config": config}});
    ("k8s.cni.cncf.io", "NetworkAttachmentDefinition", "team", object)
}

/// A profile that serves the pod's own networks.
fn serving() -> Object {
    let spec = json!({"transport": "roce", "attachment": "sriov", "inject": "networks", "nodeSelector": {"matchLabels": {"fabric": "roce"}}});
    let object = json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": {"name": "nets"}, "spec": spec});
    ("fabric-admission.dev", "FabricProfile", "", object)
}

/// A policy for a resource with RDMA.
fn policy(resource: &str) -> Object {
    let spec = json!({"resourceName": resource, "numVfs": 8, "isRdma": true, "linkType": "eth",
        "nicSelector": {"vendor": "15b3", "pfNames": ["ens1f0np0"]}, "nodeSelector": {"fabric": "roce"}});
    let object = json!({"metadata": {"name": resource, "namespace": "sriov-network-operator"}, "spec": spec});
    ("sriovnetwork.openshift.io", "SriovNetworkNodePolicy", "sriov-network-operator", object)
}

/// The state of a node in exclusive RDMA mode.
fn exclusive() -> Object {
    let group = json!({"resourceName": "rail0", "isRdma": true, "deviceType": "netdevice", "policyName": "rdma", "vfRange": "0-7"});
    let object = json!({"metadata": {"name": "g0", "namespace": "sriov-network-operator"},
        "spec": {"interfaces": [{"name": "ens1f0np0", "pciAddress": "0000:19:00.0", "numVfs": 8, "vfGroups": [group]}]},
        "status": {"syncStatus": "Succeeded", "system": {"rdmaMode": "exclusive"},
            "interfaces": [{"name": "ens1f0np0", "pciAddress": "0000:19:00.0", "linkType": "ETH", "numVfs": 8, "vendor": "15b3"}]}});
    ("sriovnetwork.openshift.io", "SriovNetworkNodeState", "sriov-network-operator", object)
}
