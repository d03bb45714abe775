//! Objects that cannot be read, bytes that are not UTF-8, and a large object.

use super::{Live, node, pod_of, profile, site, soon};
use crate::support::scripted_api_server::http::NOT_UTF8;
use crate::support::suite::{Outcome, Suite};
use serde_json::json;

pub(super) fn add(suite: &mut Suite) {
    suite.add("live::objects_that_cannot_be_read_are_skipped", malformed);
    suite.add("live::bytes_that_are_not_utf8_hide_no_object", not_utf8);
    suite.add("live::a_changed_object_that_cannot_be_read_is_skipped", turned_malformed);
    suite.add("live::an_object_of_two_mebibytes_is_read", large);
}

fn malformed() -> Outcome {
    let script = site()?;
    script.put("Node", json!({"metadata": {"name": "bad", "labels": 3}}));
    let live = Live::start(script)?;
    live.gives(&pod_of("p"), "x.com/east")?;
    let listed = live.of_kind("malformed_total", "Node")?;
    assert!(listed >= 1.0, "not counted");
    live.settled()?;
    live.script.put("Node", json!({"metadata": {"name": "worse", "labels": ["a"]}}));
    live.script.put("NetworkAttachmentDefinition", json!({"metadata": {"namespace": "fabric", "name": []}}));
    live.script.put("FabricProfile", json!({"metadata": {"name": "bad"}, "spec": {"rails": 8}}));
    live.script.put("Namespace", json!({"metadata": {"name": "bad", "labels": "no"}}));
    live.script.put("Node", node("gpu-1", "west", "p"));
    live.gives(&pod_of("p"), "x.com/west")?;
    for (kind, least) in [
        ("Node", listed + 1.0),
        ("NetworkAttachmentDefinition", 1.0),
        ("FabricProfile", 1.0),
        ("Namespace", 1.0),
    ] {
        soon(&format!("a {kind} is counted"), || Ok(live.of_kind("malformed_total", kind)? >= least))?;
    }
    live.script.put("FabricProfile", profile("west", "x.com/east"));
    live.gives(&pod_of("p"), "x.com/east")?;
    // What has no name that can be read is not an object of the metrics.
    assert_eq!(live.of_kind("objects", "NetworkAttachmentDefinition")?, 2.0);
    // Deleting what could not be read is nothing special.
    live.script.delete("Node", "", "bad");
    live.script.delete("FabricProfile", "", "bad");
    live.script.put("Node", node("gpu-1", "east", "p"));
    live.script.put("FabricProfile", profile("east", "x.com/west"));
    live.gives(&pod_of("p"), "x.com/west")?;
    Ok(live.end()?)
}

/// A tenant can write such bytes into claims, and a kubelet into its Node. They must not stop the facts of a kind.
fn not_utf8() -> Outcome {
    let managed = |manager: &str| json!([{"manager": manager, "fieldsV1": {format!("f:{NOT_UTF8}"): {}}}]);
    let script = site()?;
    let mut listed = node("gpu-0", "west", "q");
    listed["metadata"]["managedFields"] = managed("kubelet");
    script.put("Node", listed);
    let live = Live::start(script)?;
    live.settled()?;
    live.gives(&pod_of("q"), "x.com/west")?;
    let lists = live.of_kind("lists_total", "Node")?;
    let mut changed = node("gpu-1", "west", "p");
    changed["metadata"]["managedFields"] = managed("kubelet");
    live.script.put("Node", changed);
    live.gives(&pod_of("p"), "x.com/west")?;
    assert_eq!(live.of_kind("lists_total", "Node")?, lists, "the watch goes on");
    assert_eq!(live.of_kind("malformed_total", "Node")?, 0.0);
    Ok(live.end()?)
}

/// The API server keeps profiles well formed, but an older or newer schema may not: the last good one stays.
fn turned_malformed() -> Outcome {
    let live = Live::start(site()?)?;
    live.settled()?;
    live.gives(&pod_of("p"), "x.com/east")?;
    live.script.put("FabricProfile", json!({"metadata": {"name": "east"}, "spec": {"rails": 8}}));
    soon("it is counted", || Ok(live.of_kind("malformed_total", "FabricProfile")? >= 1.0))?;
    live.script.put("Node", node("gpu-2", "west", "q"));
    live.gives(&pod_of("q"), "x.com/west")?;
    live.gives(&pod_of("p"), "x.com/east")?;
    live.script.put("FabricProfile", profile("east", "x.com/west"));
    live.gives(&pod_of("p"), "x.com/west")?;
    Ok(live.end()?)
}

fn large() -> Outcome {
    let big = |name: &str, fabric: &str| {
        let mut object = node(name, fabric, "p");
        object["metadata"]["annotations"] = json!({"blob": "x".repeat(2 << 20)});
        object
    };
    let script = site()?;
    script.put("Node", big("gpu-1", "east"));
    let live = Live::start(script)?;
    live.gives(&pod_of("p"), "x.com/east")?;
    live.settled()?;
    live.script.put("Node", big("gpu-1", "west"));
    live.gives(&pod_of("p"), "x.com/west")?;
    assert_eq!(live.of_kind("malformed_total", "Node")?, 0.0);
    assert_eq!(live.of_kind("lists_total", "Node")?, 1.0, "it is read from the stream");
    Ok(live.end()?)
}
