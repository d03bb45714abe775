//! Policies and pools of the SR-IOV operator beside nodes and other policies: shapes for [`super::beside_known_objects`].

use super::beside_known_objects::{Object, Shape};
use serde_json::{Value, json};

const GROUP: &str = "sriovnetwork.openshift.io";
const NAMESPACE: &str = "sriov-network-operator";

pub(super) const SHAPES: [Shape; 8] = [
    ("a policy, and nodes that policies of its resource select too", |n| {
        let others = (0..n / 2).map(|i| policy(&format!("p{i}"), "r", ("zone", "a"), by_name()));
        (own(n, policy("o", "r", ("fabric", "roce"), by_name())), nodes(n * 20).chain(others).collect())
    }),
    ("a policy, and nodes that policies of other resources select too", |n| {
        let others = (0..n / 2).map(|i| policy(&format!("p{i}"), &format!("r{i}"), ("zone", "a"), by_name()));
        (own(n, policy("o", "r", ("fabric", "roce"), by_name())), nodes(n * 20).chain(others).collect())
    }),
    ("a policy, and nodes that share a value of a label that differs on nearly every node", |n| {
        let others = (0..n / 2).map(|i| policy(&format!("p{i}"), "r", ("serial", "none"), by_name()));
        (own(n, policy("o", "r", ("rack", "r1"), by_name())), serial_nodes(n * 10).chain(others).collect())
    }),
    ("a pool, and nodes that other pools select too", |n| {
        let others = (0..n / 2).map(|i| pool(&format!("p{i}"), "zone", "a"));
        (own(n, pool("o", "fabric", "roce")), nodes(n * 20).chain(others).collect())
    }),
    ("NICs that a policy takes by vendor, and policies that take others by address", |n| {
        let wanted = |i: usize| json!({"rootDevices": [format!("0000:ff:{:02x}.{}", i % 256, i / 256)]});
        let others =
            (0..n / 8).map(|i| policy(&format!("p{i}"), &format!("r{i}"), ("fabric", "roce"), wanted(i)));
        let states = (0..n * 2).map(state);
        let vendor = policy("o", "r", ("fabric", "roce"), json!({"vendor": "15b3"}));
        (own(n, vendor), nodes(n * 2).chain(states).chain(others).collect())
    }),
    ("addresses that a policy takes, and policies that take NICs by vendor", |n| {
        let addresses: Vec<String> = (0..n).map(|i| format!("a{i:x}")).collect();
        let others = (0..n / 8).map(|i| {
            policy(&format!("p{i}"), &format!("r{i}"), ("fabric", "roce"), json!({"vendor": "15b3"}))
        });
        let states = (0..n * 2).map(state);
        let vendor = policy("o", "r", ("fabric", "roce"), json!({ "rootDevices": addresses }));
        (own(n, vendor), nodes(n * 2).chain(states).chain(others).collect())
    }),
    ("one NIC in all entries of a policy and of another one, with VFs side by side", |n| {
        let every_second = |from: usize| -> Value {
            let entry = |i: usize| format!("ens1f0#{0}-{0}", 2 * i + from);
            json!({"pfNames": (0..n).map(entry).collect::<Vec<_>>()})
        };
        let other = policy("p", "r", ("fabric", "roce"), every_second(1));
        (own(n, policy("o", "s", ("fabric", "roce"), every_second(0))), vec![other])
    }),
    ("one NIC again and again in a policy and in another one", |n| {
        let nics = json!({"pfNames": vec!["ens1f0"; n]});
        let other = policy("p", "r", ("fabric", "roce"), nics.clone());
        (own(n, policy("o", "s", ("fabric", "roce"), nics)), vec![other])
    }),
];

/// The object that is decided on. Its size is a little different for each number: inputs are told apart by their bytes.
fn own(n: usize, (group, kind, _, mut object): Object) -> Value {
    object["metadata"]["annotations"] = json!({"n": n.to_string()});
    object["apiVersion"] = format!("{group}/v1").into();
    object["kind"] = kind.into();
    object
}

fn by_name() -> Value {
    json!({"vendor": "15b3", "pfNames": ["ens1f0"]})
}

fn policy(name: &str, resource: &str, (key, value): (&str, &str), nics: Value) -> Object {
    let spec = json!({"resourceName": resource, "numVfs": 8, "isRdma": true, "linkType": "eth", "nicSelector": nics,
        "nodeSelector": {key: value}});
    let object = json!({"metadata": {"name": name, "namespace": NAMESPACE}, "spec": spec});
    (GROUP, "SriovNetworkNodePolicy", NAMESPACE, object)
}

fn pool(name: &str, key: &str, value: &str) -> Object {
    let spec = json!({"nodeSelector": {"matchLabels": {key: value}}});
    let object = json!({"metadata": {"name": name, "namespace": NAMESPACE}, "spec": spec});
    (GROUP, "SriovNetworkPoolConfig", NAMESPACE, object)
}

fn node(name: &str, mut labels: Value) -> Object {
    labels["kubernetes.io/hostname"] = name.into();
    let object = json!({"metadata": {"name": name, "labels": labels}, "status": {"allocatable": {"nvidia.com/gpu": "8"}}});
    ("", "Node", "", object)
}

fn nodes(n: usize) -> impl Iterator<Item = Object> {
    (0..n).map(|i| {
        node(&format!("n{i}"), json!({"fabric": "roce", "zone": "a", "rack": format!("r{}", i % 200)}))
    })
}

/// More values of a label than classes may have, and nodes that share one.
fn serial_nodes(n: usize) -> impl Iterator<Item = Object> {
    let differing =
        (0..4_200).map(|i| node(&format!("u{i}"), json!({"rack": "r1", "serial": format!("t{i}")})));
    differing.chain((0..n).map(|i| node(&format!("n{i}"), json!({"rack": "r2", "serial": "none"}))))
}

fn state(i: usize) -> Object {
    let nic = |k: usize| {
        json!({"name": format!("ens{k}f0"), "altNames": [format!("enx{i:06x}{k:02x}")], "pciAddress": format!("0000:{k:02x}:00.0"),
            "totalvfs": 16, "linkType": "ETH", "vendor": "15b3", "deviceID": "101d", "mtu": 1500, "numVfs": 8})
    };
    let nics: Vec<Value> = (0..8).map(nic).collect();
    let object = json!({"metadata": {"name": format!("n{i}"), "namespace": NAMESPACE}, "status": {"syncStatus": "Succeeded", "interfaces": nics}});
    (GROUP, "SriovNetworkNodeState", NAMESPACE, object)
}
