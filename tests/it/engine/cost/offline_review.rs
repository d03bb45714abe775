//! The offline review of files: Lists and streams of many objects, and objects of many templates.

use super::grow_json::{self, Growth, grown};
use super::objects_to_grow::{self, Sample};
use super::{LARGE, SECONDS, TIMES, Taken, compare, given, now, verdict};
use crate::support::suite::Outcome;
use crate::support::{Scratch, binary};
use fabric_admission::manifest::to_yaml;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;

/// What the smaller input costs at least: the shell counts milliseconds.
pub(super) const FLOOR: Duration = Duration::from_millis(10);

/// How many times as much the larger input may cost. The place of a fault inside of a text is still looked up from the
/// start of the file, which shows in Lists of many such faults: 19 times.
const MOST: f64 = 32.0;

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
        if spent > seconds {
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
    verdict("review", &taken, all, MOST)
}

/// CPU time of a command, as the shell counts that of its children.
pub(super) fn ran(arguments: &str, scratch: &Scratch) -> Result<Duration, String> {
    let output = Command::new("sh")
        .args(["-c", &format!("\"$0\" {arguments} >out 2>err; times")])
        .arg(binary())
        .current_dir(scratch.path())
        .output()
        .map_err(|e| format!("sh: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let user = || {
        let (minutes, seconds) =
            text.lines().nth(1)?.split(' ').next()?.strip_suffix('s')?.split_once('m')?;
        Some(60.0 * minutes.parse::<f64>().ok()? + seconds.parse::<f64>().ok()?)
    };
    user().map(Duration::from_secs_f64).ok_or_else(|| format!("times: {text}"))
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
