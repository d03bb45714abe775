//! Clusters that differ only in what a caller may not know, and objects that a caller invents to ask for it.

use super::{CANARY, OPERATOR, RAILS, list, within};
use serde_json::{Value, json};

/// Words that nobody can guess: each stands in a place that a caller may not know.
pub(super) const SECRET: &str = "qzvx";

/// The cluster of a case with secrets: names of nodes and their number, labels that no profile selects, other namespaces with
/// their objects and profiles, and the operators' objects.
pub(super) fn with_secrets(case: &Value, world: usize) -> Vec<Value> {
    let word = |what: &str| format!("{SECRET}{world}-{what}");
    let name_of = |number: usize, copy: usize| word(&format!("node{number}-{copy}"));
    let mut all = Vec::new();
    for object in list(case, "cluster") {
        let number = object["metadata"]["name"]
            .as_str()
            .and_then(|name| name.strip_prefix('n')?.parse::<usize>().ok());
        let of_node = matches!(object["kind"].as_str(), Some("Node" | "SriovNetworkNodeState"));
        if let Some(number) = number.filter(|_| of_node) {
            let mut object = object;
            if object["status"]["interfaces"].is_array() {
                let (link, mtu) = [("ETH", 4200), ("IB", 2044)][world];
                let canary =
                    json!({"name": CANARY, "pciAddress": "0:7", "linkType": link, "mtu": mtu, "totalvfs": 4});
                for part in ["spec", "status"] {
                    if let Some(list) = object[part]["interfaces"].as_array_mut() {
                        list.push(canary.clone());
                    }
                }
            }
            // One world has more nodes of each sort.
            for copy in 0..=world * 2 {
                let mut node = object.clone();
                let name = name_of(number, copy);
                if node["metadata"]["labels"].is_object() {
                    let labels = &mut node["metadata"]["labels"];
                    labels["kubernetes.io/hostname"] = name.clone().into();
                    labels["zone"] = word("zone").into();
                    labels["rack"] = format!("r{}", (number + world) % 3).into();
                    labels[format!("{}/label", word("key"))] = "x".into();
                }
                node["metadata"]["name"] = name.into();
                all.push(node);
            }
        } else if object["metadata"]["namespace"] == OPERATOR
            && object["kind"]
                .as_str()
                .is_some_and(|kind| kind.starts_with("Sriov") && !kind.ends_with("Network"))
        {
            let mut object = object;
            object["metadata"]["name"] = word("object").into();
            all.push(object);
        } else if matches!(object["kind"].as_str(), Some("IPPool" | "CIDRPool")) {
            // Subnets, and sizes of blocks that are large enough for every profile.
            let mut object = object;
            let subnet = ["10.0.0.0/16", "10.77.0.0/16"][world];
            object["spec"]["subnet"] = subnet.into();
            object["spec"]["cidr"] = subnet.into();
            if object["spec"]["perNodeBlockSize"] == 64 {
                object["spec"]["perNodeBlockSize"] = [64, 3][world].into();
            }
            all.push(object);
        } else {
            all.push(object);
        }
    }
    for team in ["a", "b"] {
        let labels =
            json!({"team": "other", "fabric-admission.dev/mode": "enforce", word("label"): word("value")});
        all.push(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": word(team), "labels": labels}}));
    }
    // A namespace that names the profile which a caller may invent, and does not enforce.
    if world == 1 {
        let metadata = json!({"name": word("c"), "annotations": {"fabric-admission.dev/profile": "p0"}});
        all.push(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}));
    }
    for mut object in within(case, "foreign", &word("a")) {
        object["metadata"]["name"] = word("foreign").into();
        all.push(object);
    }
    let mut hidden = json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": {"name": word("profile")},
        "spec": {"base": "roce-sriov", "nodeSelector": {"matchLabels": {"fabric": "east"}}, "namespaces": {"matchLabels": {"team": "hidden"}},
            "rails": [{"network": format!("{}/{}", word("a"), word("foreign")), "resource": format!("{}.com/vf", word("r"))}]}});
    if world == 1 {
        hidden["spec"]["priority"] = 7.into();
        all.push(hidden);
    }
    all
}

/// Objects that a caller invents: each asks for something.
pub(super) fn invented() -> Vec<Value> {
    let profile = |spec: Value| json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": {"name": "p0"}, "spec": spec});
    let mut all: Vec<Value> = [json!({"team": "other"}), json!({"team": "mine"}), json!({"kubernetes.io/metadata.name": format!("{SECRET}0-a")})]
        .into_iter()
        .map(|labels| {
            let namespace = format!("{SECRET}0-a/{SECRET}0-foreign");
            profile(json!({"base": "roce-sriov", "namespaces": {"matchLabels": labels}, "rails": [{"network": namespace}, {"network": "fabric/east"}]}))
        })
        .collect();
    all.push(profile(json!({"base": "roce-sriov"})));
    for kind in ["MacvlanNetwork", "IPoIBNetwork", "HostDeviceNetwork"] {
        all.push(json!({"apiVersion": "mellanox.com/v1alpha1", "kind": kind, "metadata": {"name": "east"},
            "spec": {"networkNamespace": RAILS, "master": "ens1", "resourceName": "east", "ipam": "{\"type\":\"nv-ipam\",\"poolName\":\"eas\"}"}}));
    }
    for (key, value) in [("kubernetes.io/hostname", "node0-0"), ("zone", "zone"), ("fabric", "east")] {
        let value = if key == "fabric" { value.to_owned() } else { format!("{SECRET}0-{value}") };
        for (kind, spec) in [
            (
                "SriovNetworkNodePolicy",
                json!({"resourceName": "east", "numVfs": 8, "nodeSelector": {key: value}, "nicSelector": {"pfNames": ["ens1"]}}),
            ),
            (
                "SriovNetworkPoolConfig",
                json!({"nodeSelector": {"matchLabels": {key: value}}, "maxUnavailable": 1}),
            ),
        ] {
            all.push(json!({"apiVersion": "sriovnetwork.openshift.io/v1", "kind": kind, "metadata": {"name": "x", "namespace": OPERATOR}, "spec": spec}));
        }
    }
    all
}
