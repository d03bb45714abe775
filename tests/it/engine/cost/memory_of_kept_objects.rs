//! What is kept of objects that tenants write: every replica has all of them in memory, so a text that no name can have is not
//! kept.

use super::beside_known_objects::{Object, snapshot};
use crate::support::suite::{Outcome, Suite};
use serde_json::{Value, json};

/// Most bytes that are kept of one object.
const MOST: i64 = 64 << 10;
/// How an object is made.
type Make = fn(usize) -> Object;
/// Objects of each shape.
const OBJECTS: usize = 4;

pub(super) fn add(suite: &mut Suite) {
    suite.add("memory::kept", kept);
    suite.add("memory::nodes_that_a_profile_selects_by_name", nodes_by_name);
}

fn kept() -> Outcome {
    // What is made once in a process is made now.
    drop(snapshot(&[]));
    let of = |objects: &[Object]| {
        let mut snapshots = Vec::with_capacity(1);
        allocation_counter::measure(|| snapshots.push(snapshot(objects))).bytes_current
    };
    let none = of(&[]);
    let shapes: [(&str, Make); 2] = [("templates of claims", template), ("networks", network)];
    for (what, make) in shapes {
        let objects: Vec<Object> = (0..OBJECTS).map(make).collect();
        let length: usize = objects.iter().map(|(.., object)| object.to_string().len()).sum();
        assert!(length > OBJECTS * 500_000, "{what}: {length}");
        let each = (of(&objects) - none) / OBJECTS as i64;
        eprintln!("{what}: {each} bytes of {}", length / OBJECTS);
        assert!(each > 0, "{what}: the snapshot is kept while it is counted");
        assert!(each <= MOST, "{what}: {each} bytes are kept of each");
    }
    Ok(())
}

/// Twice as many nodes take about twice the memory, also where a profile selects by a label that differs on every node: then
/// there are as many classes as nodes.
fn nodes_by_name() -> Outcome {
    let profile = json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": {"name": "p"},
        "spec": {"base": "roce-sriov", "nodeSelector": {"matchLabels": {"kubernetes.io/hostname": "n7"}}}});
    let of = |nodes: usize| {
        let node = |i: usize| {
            let labels = json!({"kubernetes.io/hostname": format!("n{i}"), "pool": format!("p{}", i % 40)});
            ("", "Node", "", json!({"metadata": {"name": format!("n{i}"), "labels": labels}}))
        };
        let profile = ("fabric-admission.dev", "FabricProfile", "", profile.clone());
        let objects: Vec<Object> = (0..nodes).map(node).chain([profile]).collect();
        let mut snapshots = Vec::with_capacity(1);
        allocation_counter::measure(|| snapshots.push(snapshot(&objects))).bytes_current
    };
    let _made_once = of(1);
    let [few, many] = [5_000, 20_000].map(of);
    eprintln!("{few} to {many} bytes");
    assert!(many < few * 6, "four times as many nodes: {few} to {many} bytes");
    Ok(())
}

/// A template whose requests and configurations have texts of nearly the length that the API server allows (10 KiB), about as
/// many as fit into one object.
fn template(nth: usize) -> Object {
    let text = "x".repeat(9_900);
    let ask = |a: usize| {
        let selector = json!({"cel": {"expression": format!("device.driver == \"{text}\"")}});
        json!({"name": format!("a{a}"), "deviceClassName": "c", "selectors": [selector]})
    };
    let request =
        |r: usize| json!({"name": format!("r{r}"), "firstAvailable": (0..8).map(ask).collect::<Vec<_>>()});
    let parameters = json!({"kind": "VfConfig", "netAttachDefName": text[..4_900], "netAttachDefNamespace": text[..4_900]});
    let opaque =
        json!({"opaque": {"driver": "sriovnetwork.k8snetworkplumbingwg.io", "parameters": parameters}});
    let requests: Vec<Value> = (0..14).map(request).collect();
    let object = json!({"metadata": {"name": format!("t{nth}"), "namespace": "team"},
        "spec": {"spec": {"devices": {"requests": requests, "config": vec![opaque; 32]}}}});
    ("resource.k8s.io", "ResourceClaimTemplate", "team", object)
}

/// A network with long annotations and a long configuration.
fn network(nth: usize) -> Object {
    let (short, long) = ("x".repeat(120_000), "y".repeat(200_000));
    let config = json!({"type": long, "master": long, "ipam": {"type": "nv-ipam", "poolName": long}});
    let annotations = json!({"k8s.v1.cni.cncf.io/resourceName": format!("example.com/{short}"),
        "k8s.v1.cni.cncf.io/nodeSelector": short});
    let object = json!({"metadata": {"name": format!("n{nth}"), "namespace": "team", "annotations": annotations},
        "spec": {"config": config.to_string()}});
    ("k8s.cni.cncf.io", "NetworkAttachmentDefinition", "team", object)
}
