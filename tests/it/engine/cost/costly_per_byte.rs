//! Objects that were made up to be as costly as their length allows, each by hand: a decision may cost so many times what
//! it costs to read the body once.

use super::costly_products::{body, entry, once, snapshot};
use super::now;
use crate::support::suite::Outcome;
use serde_json::{Value, json};
use std::time::Duration;

/// How many times what reading costs a decision may cost. The reader skips eight bytes at a time; ten passes over a long
/// text, letter by letter, cost ten times as much in a debug build. There the ratio of one shape was 14.8 to 19.7 on one machine, depending on
/// what else ran on it.
const MOST: f64 = if cfg!(debug_assertions) { 24.0 } else { 16.0 };
/// Length of each list, map or text that is made up (bytes). Most rules read no longer objects.
const LARGE: usize = 240 << 10;

/// Group, kind, what it is, and how it is made of a length.
type Shape = (&'static str, &'static str, &'static str, fn(usize) -> Value);

const SHAPES: [Shape; 22] = [
    (
        "nv-ipam.nvidia.com",
        "CIDRPool",
        "exclusions that are empty",
        |n| json!({"spec": {"cidr": "10.0.0.0/8", "perNodeNetworkPrefix": 24, "exclusions": vec![json!({}); n / 3]}}),
    ),
    ("nv-ipam.nvidia.com", "CIDRPool", "excluded indexes that are below 0", |n| {
        let excluded = vec![json!({"startIndex": -1, "endIndex": -2}); n / 32];
        json!({"spec": {"cidr": "10.0.0.0/8", "perNodeNetworkPrefix": 24, "perNodeExclusions": excluded}})
    }),
    ("k8s.cni.cncf.io", "NetworkAttachmentDefinition", "ranges that are empty", |n| {
        definition(
            &json!({"type": "macvlan", "ipam": {"type": "host-local", "ranges": vec![json!([]); n / 3]}}),
        )
    }),
    ("k8s.cni.cncf.io", "NetworkAttachmentDefinition", "plugins that are empty", |n| {
        let mut plugins = vec![json!({}); n / 3];
        plugins.insert(0, json!({"type": "sriov"}));
        definition(&json!({ "plugins": plugins }))
    }),
    ("k8s.cni.cncf.io", "NetworkAttachmentDefinition", "plugins with a wrong value", |n| {
        definition(&json!({"plugins": vec![json!({"type": "sriov", "vlan": ""}); n / 26]}))
    }),
    ("mellanox.com", "NicClusterPolicy", "resources with names in common", |n| {
        let names: Vec<String> = (0..20).map(|i| format!("a{i}")).collect();
        let selector = |i: usize| {
            let mut names = names.clone();
            names.push(format!("b{i}"));
            json!({"pfNames": names})
        };
        let resource = |i: usize| json!({"resourceName": format!("r{i}"), "selectors": (0..16).map(|j| selector(i * 16 + j)).collect::<Vec<_>>()});
        let resources: Vec<Value> = (0..n / 3_200).map(resource).collect();
        json!({"spec": {"sriovDevicePlugin": {"config": json!({"resourceList": resources}).to_string()}}})
    }),
    ("", "Pod", "annotations of ours", |n| {
        let keys = (0..n / 3).map(|i| (format!("fabric-admission.dev/a{i:05}"), "".into()));
        let mut annotations: serde_json::Map<String, Value> = keys.collect();
        annotations.insert("fabric-admission.dev/profile".to_owned(), "p".into());
        json!({"metadata": {"annotations": annotations}, "spec": {"containers": [
            {"name": "a", "image": "x", "resources": {"limits": {"nvidia.com/gpu": 8}}}]}})
    }),
    ("jobset.x-k8s.io", "JobSet", "templates with labels of domains that are near to ours", |n| {
        let template = |i: usize| {
            let label = |j: usize| (format!("fabric-admission.de{}/njec{i}{j}", j % 10), "".into());
            let labels: serde_json::Map<String, Value> = (0..200).map(label).collect();
            let container =
                json!({"name": "a", "image": "x", "resources": {"limits": {"nvidia.com/gpu": 8}}});
            json!({"name": format!("j{i}"), "template": {"spec": {"template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}}}}})
        };
        json!({"spec": {"replicatedJobs": (0..n / 7_000).map(template).collect::<Vec<_>>()}})
    }),
    ("", "Pod", "a reason in blanks for findings that are ignored", |n| {
        let blanks = " ".repeat(n / 2);
        let container = |i: usize| {
            json!({"name": format!("c{i}"), "image": "x", "env": [{"name": "NCCL_DEBUG", "value": "bogus"}, {"name": "NCCL_IB_TC", "value": "x"}],
                "resources": {"limits": {"nvidia.com/gpu": 1}}})
        };
        let reason = format!("{blanks}x{blanks}");
        json!({"metadata": {"annotations": {"fabric-admission.dev/profile": "p", "fabric-admission.dev/ignore.FAB402": reason}},
            "spec": {"containers": (0..60).map(container).collect::<Vec<_>>()}})
    }),
    ("serving.kserve.io", "LLMInferenceService", "pod specs, and keys of the annotation", |n| {
        let keys: String = (0..n / 10).map(|i| format!(",\"{i}\":0")).collect();
        json!({"metadata": {"annotations": {"k8s.v1.cni.cncf.io/networks": format!("[{{\"name\":\"a\"{keys}}}]")}},
               "spec": {"x": vec![json!({"worker": {"containers": [{"name": "a"}]}}); 16]}})
    }),
    ("example.com", "Any", "a text of 3 MiB, deep inside", |n| {
        let pod = json!({"spec": {"containers": [{"image": "x"}]}});
        let inner = json!({"text": "\"".repeat(n * 6), "template": pod});
        (0..15).fold(inner, |inner, _| json!({ "a": inner }))
    }),
    ("batch", "Job", "pod specs in pod specs, around a text", |n| {
        let inner = json!({"containers": [{"name": "a", "image": "x"}], "x": "a".repeat(n * 12)});
        let outer = |spec: Value, _| json!({"containers": [{"name": "a", "image": "x"}], "spec": spec});
        json!({"spec": {"template": {"spec": (0..12).fold(inner, outer)}}})
    }),
    ("k8s.cni.cncf.io", "NetworkAttachmentDefinition", "numbers with an exponent", |n| {
        let mut network = definition(&json!({"type": "sriov"}));
        network["spec"]["x"] = vec![json!(-1e-9); n / 6].into();
        network
    }),
    ("serving.kserve.io", "LLMInferenceService", "pod specs within pod specs", |n| {
        let inner = json!({"containers": [{"name": "a"}], "x": "\n".repeat(n / 2)});
        (0..15).fold(json!({ "spec": inner }), |inner, _| json!({ "template": inner }))
    }),
    ("", "Pod", "words of a command, and a variable that other users of the device would explain", |n| {
        commanded("x", &"nvm_nvm_nvm_nv\"".repeat(n * 2))
    }),
    ("", "Pod", "a long name of an image, and the same variable", |n| {
        commanded(&"nvm_nvm_nvm_nv\"".repeat(n * 2), "a")
    }),
    ("", "Pod", "variables that refer to one another, and texts like references", |n| {
        let open = "$(".repeat(2_000);
        let entry = |i: usize| json!({"name": "NCCL_IB_HCA", "value": if i.is_multiple_of(2) { "$(A)" } else { open.as_str() }});
        let first = json!({"name": "A", "value": "x".repeat(2_000)});
        let env: Vec<Value> = std::iter::once(first).chain((0..200).map(entry)).collect();
        let container = |i: usize| json!({"name": format!("c{i}"), "image": "x", "env": env, "resources": {"limits": {"nvidia.com/gpu": 1}}});
        json!({"spec": {"containers": (0..n / 10_000).map(container).collect::<Vec<_>>()}})
    }),
    ("", "Pod", "mounts at paths of slashes, and the same variable", |n| mounted(n * 32, "/")),
    ("", "Pod", "mounts at paths of words, and the same variable", |n| mounted(n * 32, "n_m/")),
    ("serving.kserve.io", "LLMInferenceService", "short lists of containers, each ten levels deep", |n| {
        let unit = |inner: Value, _| json!({ "a": inner });
        let units = vec![(0..10).fold(json!({"\"\"\"\"\"\"\"\"": {"containers": 0}}), unit); n / 80];
        json!({"a".repeat(250): {"b".repeat(250): {"kind": "k".repeat(250), "apiVersion": "v1", "name": "n".repeat(250), "units": units}}})
    }),
    ("", "Pod", "uses of claims, each of another request", |n| {
        let claims: Vec<Value> =
            (0..100).map(|i| json!({"name": format!("c{i}"), "resourceClaimTemplateName": "t"})).collect();
        let uses = |i: usize| -> Vec<Value> {
            (0..n / 2_400).map(|j| json!({"name": format!("c{j}"), "request": format!("r{i}")})).collect()
        };
        let container =
            |i: usize| json!({"name": format!("a{i}"), "image": "x", "resources": {"claims": uses(i)}});
        json!({"spec": {"resourceClaims": claims, "containers": (0..60).map(container).collect::<Vec<_>>()}})
    }),
    (
        "fabric-admission.dev",
        "FabricProfile",
        "a base of 3 MiB",
        |n| json!({"spec": {"base": "é".repeat(n * 6)}}),
    ),
];

/// A pod that switches InfiniBand off beside its RDMA device.
fn commanded(image: &str, command: &str) -> Value {
    json!({"spec": {"containers": [{"name": "a", "image": image, "command": ["bash", "-c", command],
        "env": [{"name": "NCCL_IB_DISABLE", "value": "1"}],
        "resources": {"limits": {"nvidia.com/gpu": 8, "rdma/a_roce": 1}}}]}})
}

/// A pod that switches InfiniBand off, with paths of mounts that repeat a text.
fn mounted(bytes: usize, text: &str) -> Value {
    const LONGEST: usize = 4_000;
    let mut pod = commanded("x", "a");
    let mount = json!({"name": "v", "mountPath": format!("/{}", text.repeat(LONGEST / text.len()))});
    pod["spec"]["containers"][0]["volumeMounts"] = vec![mount; bytes / LONGEST].into();
    pod["spec"]["containers"][0]["env"] =
        json!([{"name": "NCCL_IB_DISABLE", "value": "1"}, {"name": "NCCL_NET", "value": "Socket"}]);
    pod
}

fn definition(config: &Value) -> Value {
    json!({"spec": {"config": config.to_string()}})
}

pub(super) fn in_bounds() -> Outcome {
    let snapshot = snapshot()?;
    let mut wrong = Vec::new();
    for (group, kind, what, make) in SHAPES {
        let body = body(group, kind, make(LARGE));
        let entry = entry(group, kind);
        let least = |run: &dyn Fn() -> Duration| (0..3).map(|_| run()).min().unwrap_or_default();
        let decided = least(&|| once(&body, entry, &snapshot));
        let read = least(&|| {
            let started = now();
            read(&serde_json::from_slice(&body).unwrap());
            now() - started
        });
        let times = decided.as_secs_f64() / read.as_secs_f64();
        let line = format!(
            "{times:5.1} times: {decided:.1?} for {} bytes, read in {read:.1?}: {kind}: {what}",
            body.len()
        );
        eprintln!("{line}");
        if times > MOST {
            wrong.push(line);
        }
    }
    match wrong.as_slice() {
        [] => Ok(()),
        _ => Err(wrong.join("\n").into()),
    }
}

/// Defaults within defaults cost as much as variables one after the other.
pub(super) fn nested_defaults() -> Outcome {
    let snapshot = snapshot()?;
    let cost = |part: &str| {
        let command = format!("env env env x {}", part.repeat(LARGE / 4));
        let body = body("", "Pod", commanded("x", &command));
        (0..3).map(|_| once(&body, entry("", "Pod"), &snapshot)).min().unwrap_or_default()
    };
    let times = cost("${A=").as_secs_f64() / cost("${A}").as_secs_f64();
    if times < 3.0 { Ok(()) } else { Err(format!("{times:.1} times").into()) }
}

/// Reads the JSON in the texts of a document as well.
fn read(value: &Value) {
    match value {
        Value::Array(list) => list.iter().for_each(read),
        Value::Object(map) => map.values().for_each(read),
        Value::String(text) if text.starts_with(['{', '[']) => {
            drop(serde_json::from_str::<Value>(text));
        }
        _ => {}
    }
}
