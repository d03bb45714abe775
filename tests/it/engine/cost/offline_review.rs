//! The offline review of files: Lists and streams of many objects, and objects of many templates.

use super::grow_json::{self, Growth, grown};
use super::objects_to_grow::{self, Sample};
use super::{FEWEST, LARGE, MOST, SECONDS, TIMES, Taken, compare, given, now, verdict};
use crate::support::suite::Outcome;
use crate::support::{Scratch, binary};
use fabric_admission::manifest::to_yaml;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

/// What the smaller input costs at least: the shell counts milliseconds.
pub(super) const FLOOR: Duration = Duration::from_millis(10);

/// How many times as much the larger input may cost. Policies with the same vendor and the same nodes are compared with each
/// other, which gives up to 27 times.
const MOST_OF_KINDS: f64 = 32.0;

/// The same for policies: a comparison of all with all gave 40.
const MOST_POLICIES: f64 = 16.0;

/// A file of many objects, or of one object of many entries.
type Make = Box<dyn Fn(usize) -> Vec<u8>>;

/// `discover` of nodes with a resource of their own each, beside one that all have.
pub(super) fn discover() -> Outcome {
    let scratch = Scratch::new()?;
    let node = |i: usize| {
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": format!("n{i}")},
            "status": {"allocatable": {"nvidia.com/gpu": "8", "rdma/a": "8", format!("rdma/b{i}"): "8"}}})
    };
    let make = |bytes: usize| {
        let nodes: Vec<Value> = (0..=bytes / 160).map(node).collect();
        json!({"apiVersion": "v1", "kind": "List", "items": nodes}).to_string().into_bytes()
    };
    let cost = |input: &[u8], times: usize| {
        scratch.write("input", input).unwrap();
        (0..times).map(|_| ran("discover --cluster input", &scratch).unwrap()).min().unwrap_or_default()
    };
    let inputs = [0, LARGE / TIMES, LARGE].map(make);
    verdict("discover", &[compare("own resources".to_owned(), inputs, FLOOR, cost)], 1, MOST)
}

/// `review` of policies for the same nodes, with a NIC and a resource of their own each.
pub(super) fn policies() -> Outcome {
    let scratch = Scratch::new()?;
    let policy = |i: usize| {
        json!({"apiVersion": "sriovnetwork.openshift.io/v1", "kind": "SriovNetworkNodePolicy",
            "metadata": {"name": format!("p{i}"), "namespace": "sriov-network-operator"},
            "spec": {"resourceName": format!("r{i}"), "numVfs": 8, "priority": 50, "nodeSelector": {"fabric": "roce"},
                "nicSelector": {"vendor": "15b3", "pfNames": [format!("e{i}")]}}})
    };
    let make = |bytes: usize| {
        let items: Vec<Value> = (0..=bytes / 280).map(policy).collect();
        json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string().into_bytes()
    };
    let cost = |input: &[u8], times: usize| {
        scratch.write("input", input).unwrap();
        (0..times).map(|_| ran("review input -o json", &scratch).unwrap()).min().unwrap_or_default()
    };
    let inputs = [0, LARGE / TIMES, LARGE].map(make);
    verdict(
        "review",
        &[compare("policies of the same nodes".to_owned(), inputs, FLOOR, cost)],
        1,
        MOST_POLICIES,
    )
}

/// `why` of pods that ask for single nodes in the same way: a hundred of them may cost as much as ten pods and the nodes.
pub(super) fn why() -> Outcome {
    let scratch = Scratch::new()?;
    let above = |number: &str| json!({"key": "serial", "operator": "Gt", "values": [number]});
    let asked = json!([above("0"), {"key": "kubernetes.io/hostname", "operator": "Exists"}, above("999999")]);
    let pod = |i: usize| {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": format!("p{i}"), "namespace": "team"},
            "spec": {"containers": [{"name": "a", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "8"}}}],
                "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                    {"nodeSelectorTerms": [{"matchExpressions": asked}]}}}}})
    };
    // Labels of so many values are looked at node by node.
    let node = |i: usize| {
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": format!("n{i}"), "labels":
            {"kubernetes.io/hostname": format!("n{i}"), "serial": i.to_string(), "pool": format!("p{}", i % 4)}},
            "status": {"allocatable": {"nvidia.com/gpu": "8"}}})
    };
    let profile = |i: usize| {
        json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": {"name": format!("p{i}")},
            "spec": {"base": "roce-sriov", "nodeSelector": {"matchLabels": {"pool": format!("p{i}")}}}})
    };
    let taken = |pods: usize| {
        let items: Vec<Value> =
            (0..pods).map(pod).chain((0..8000).map(node)).chain((0..4).map(profile)).collect();
        let list = json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
        scratch.write("input", list).unwrap();
        ran("why input", &scratch).unwrap()
    };
    let (few, many) = (taken(1), taken(101));
    let each = many.saturating_sub(few).as_secs_f64() / 100.0;
    // The nodes are looked at once for all of them; to look at them for each pod would take a tenth of what reading 8,000 takes.
    if each < few.as_secs_f64() / 60.0 {
        Ok(())
    } else {
        Err(format!("{:.1} ms for each pod; {few:.1?} for the nodes", each * 1000.0).into())
    }
}

pub(super) fn proportionate() -> Outcome {
    let seconds = Duration::from_secs(given("FABRIC_ADMISSION_COST").unwrap_or(SECONDS));
    let large = given("FABRIC_ADMISSION_COST_BYTES").unwrap_or(LARGE);
    let only: Option<String> = given("FABRIC_ADMISSION_COST_ONLY");
    let mut files = files();
    files.retain(|(label, ..)| only.as_ref().is_none_or(|part| label.contains(part)));
    let (all, scratch) = (files.len(), Scratch::new()?);
    let mut spent = Duration::ZERO;
    let mut taken: Vec<Taken> = Vec::new();
    for (label, make) in files {
        // However slow the machine is: fewer would say little.
        if spent > seconds && taken.len() >= FEWEST {
            break;
        }
        let started = now();
        let inputs = [0, large / TIMES, large].map(make);
        // Files are written once for each measurement, and reviewed as often as it asks.
        let cost = |input: &[u8], times: usize| {
            scratch.write("input", input).unwrap();
            (0..times).map(|_| ran("review input -o json", &scratch).unwrap()).min().unwrap_or_default()
        };
        let one = compare(label, inputs, FLOOR, cost);
        spent += now() - started + one.small + one.large;
        taken.push(one);
    }
    verdict("review", &taken, all, MOST_OF_KINDS)
}

/// The shell that counts CPU time. bash counts milliseconds, and others count steps of 10 ms.
static SHELL: LazyLock<&str> =
    LazyLock::new(|| if Command::new("bash").arg("--version").output().is_ok() { "bash" } else { "sh" });

/// CPU time of a command, as the shell counts that of its children.
pub(super) fn ran(arguments: &str, scratch: &Scratch) -> Result<Duration, String> {
    let output = Command::new(*SHELL)
        .args(["-c", &format!("\"$0\" {arguments} >out 2>err; times")])
        .arg(binary())
        .env("LC_ALL", "C")
        .current_dir(scratch.path())
        .output()
        .map_err(|e| format!("{}: {e}", *SHELL))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // User and system time: the kernel divides short runs between them by chance.
    let seconds = |time: &str| {
        let (minutes, seconds) = time.strip_suffix('s')?.split_once('m')?;
        Some(60.0 * minutes.parse::<f64>().ok()? + seconds.parse::<f64>().ok()?)
    };
    let children = text.lines().nth(1).and_then(|line| line.split(' ').map(seconds).sum::<Option<f64>>());
    children.map(Duration::from_secs_f64).ok_or_else(|| format!("times: {text}"))
}

/// Many objects of each kind before objects of many entries.
fn files() -> Vec<(String, Make)> {
    let (mut kinds, mut seen) = (BTreeSet::new(), BTreeSet::new());
    let mut many: Vec<(String, Make)> = Vec::new();
    let mut long: Vec<(String, Make)> = Vec::new();
    for sample in objects_to_grow::all() {
        let kind = sample.kind();
        if kinds.insert(kind) {
            many.push((format!("List of {kind:?}"), Box::new(|bytes| list(sample, bytes))));
            many.push((format!("stream of {kind:?}"), Box::new(|bytes| stream(sample, bytes))));
        }
        for shape in grow_json::shapes(sample.object()) {
            let label = format!("{kind:?} {}", shape.label());
            if matches!(shape.growth, Growth::Named | Growth::Keys) && seen.insert(label.clone()) {
                let make = move |bytes: usize| grown(sample.object(), &shape, bytes).to_string().into_bytes();
                long.push((label, Box::new(make)));
            }
        }
    }
    // Pods and what makes them first: they have the most findings.
    many.sort_by_key(|(label, _)| {
        !["Pod", "JobSet", "NetworkAttachment"].iter().any(|kind| label.contains(kind))
    });
    long.sort_by_key(|(label, _)| (label.len() % 7, label.clone()));
    many.into_iter().chain(long).collect()
}

fn objects(sample: &Sample, bytes: usize) -> impl Iterator<Item = Value> {
    let number = bytes / sample.object().to_string().len().max(1) + 1;
    (0..number).map(|i| {
        let mut object = sample.object().clone();
        object["metadata"]["name"] = format!("object-{i}").into();
        object
    })
}

fn list(sample: &Sample, bytes: usize) -> Vec<u8> {
    let items: Vec<Value> = objects(sample, bytes).collect();
    json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string().into_bytes()
}

fn stream(sample: &Sample, bytes: usize) -> Vec<u8> {
    objects(sample, bytes).map(|object| format!("---\n{}", to_yaml(&object))).collect::<String>().into_bytes()
}
