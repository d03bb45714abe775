//! A text stands beside a list, or above it: no entry of the list may copy the text. Both grow together, and the bytes
//! that are allocated may grow only about as much. The number of bytes is the same on every machine. The settings of
//! [`super`] count here too: as many pairs as fit into the time are tried, always the same ones first.

use super::costly_products;
use super::grow_json::{self, Growth, Shape, grown};
use super::objects_to_grow::{self, Sample};
use super::webhook_entries_and_offline::{self, Way};
use super::{SECONDS, given, now};
use crate::support::generated_world::bases;
use crate::support::suite::{Outcome, Suite};
use fabric_admission::review::decide_webhook_request::WebhookEntry;
use fabric_admission::snapshot::{Builder, Layer};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::time::Duration;

/// The larger input (bytes), half of it text.
const LARGE: usize = 64 << 10;
/// How many times shorter the smaller input is.
const TIMES: usize = 4;
/// How many times as many bytes the larger input may allocate. A vector that just does not fit is eight times as large as one
/// that just fits, with four times the entries; copies in each entry would make it sixteen times.
const MOST: f64 = 10.0;
/// What the smaller input allocates at least (bytes): less is what a finding shows of a text.
const FLOOR: u64 = 512 << 10;

pub(super) fn add(suite: &mut Suite) {
    suite.add("cost::no_container_copies_a_name_of_a_volume", volume_names);
    for (name, way) in Way::ALL {
        suite.add(format!("cost::no_entry_copies_a_text_beside_its_list::{name}"), move || copies(way));
    }
}

/// A text and a list or map that stand in the same object, or the list further below.
pub(super) fn texts_beside_lists(shapes: &[Shape]) -> impl Iterator<Item = [&Shape; 2]> {
    let texts = shapes.iter().filter(|s| s.growth == Growth::Filled("a"));
    texts.flat_map(move |text| {
        let beside = text.path.split_last().map(|(_, beside)| beside);
        let lists =
            shapes.iter().filter(|s| matches!(s.growth, Growth::Hollow | Growth::Named | Growth::Keys));
        lists
            .filter(move |list| beside.is_some_and(|beside| list.path.starts_with(beside)))
            .map(move |list| [text, list])
    })
}

fn copies(way: Way) -> Outcome {
    let seconds = Duration::from_secs(given("FABRIC_ADMISSION_COST").unwrap_or(SECONDS));
    let only: Option<String> = given("FABRIC_ADMISSION_COST_ONLY");
    let mut trials: BTreeMap<u64, (&Sample, [Shape; 2], String)> = BTreeMap::new();
    for sample in objects_to_grow::all().iter().filter(|s| way.takes(s)) {
        let (group, kind) = sample.kind();
        let shapes = grow_json::shapes(&webhook_entries_and_offline::object(sample));
        for [text, list] in texts_beside_lists(&shapes) {
            let label = format!("{group} {kind} {} + {}", text.label(), list.label());
            if only.as_ref().is_none_or(|part| label.contains(part)) {
                let mut hasher = DefaultHasher::new();
                label.hash(&mut hasher);
                trials
                    .entry(hasher.finish())
                    .or_insert_with(|| (sample, [text.clone(), list.clone()], label));
            }
        }
    }
    let (all, started) = (trials.len(), now());
    let (mut tried, mut wrong) = (0, Vec::new());
    let updates: &[bool] = if matches!(way, Way::Object | Way::Workload) { &[false, true] } else { &[false] };
    for (sample, pair, label) in trials.into_values() {
        if now() - started > seconds {
            break;
        }
        tried += 1;
        let object = webhook_entries_and_offline::object(sample);
        let snapshot = webhook_entries_and_offline::snapshot(sample);
        for update in updates {
            let allocated = |bytes: usize| {
                let object =
                    pair.iter().fold(object.clone(), |object, shape| grown(&object, shape, bytes / 2));
                let input = way.input(sample, &object, *update);
                allocation_counter::measure(|| way.run(sample, &input, &snapshot)).bytes_total
            };
            // What is made once in a process, or for a snapshot, is made now.
            let none = allocated(0);
            let [small, large] = [LARGE / TIMES, LARGE].map(|bytes| allocated(bytes).saturating_sub(none));
            let ratio = large as f64 / small.max(FLOOR) as f64;
            if ratio > MOST {
                let what = if *update { " UPDATE" } else { "" };
                wrong.push(format!(
                    "{ratio:5.1} times: {small} to {large} bytes: {label}{what} ({})",
                    sample.from
                ));
            }
        }
    }
    eprintln!("{way:?}: {tried} of {all} pairs");
    assert!(tried >= all.min(5), "{tried} of {all} pairs");
    if wrong.is_empty() { Ok(()) } else { Err(format!("texts are copied:\n{}", wrong.join("\n")).into()) }
}

/// A volume that a container mounts may be mounted in each other container too: its name stands in many changes.
fn volume_names() -> Outcome {
    let shm = |name: &str| json!({"name": name, "emptyDir": {"medium": "Memory"}});
    let field = "metadata.annotations['fabric-admission.dev/file.nccl.conf']";
    let items = |path: &str| json!([{"path": path, "fieldRef": {"fieldPath": field}}]);
    type Make = fn(&dyn Fn(&str) -> Value, &dyn Fn(&str) -> Value, &str) -> (Value, Value);
    let shapes: [(&str, Make); 3] = [
        ("/dev/shm", |shm, _, text| (shm(text), json!([{"name": text, "mountPath": "/dev/shm"}]))),
        ("nccl.conf", |_, items, text| {
            (json!({"name": text, "downwardAPI": {"items": items("nccl.conf")}}), json!([]))
        }),
        ("path of nccl.conf", |_, items, text| {
            (json!({"name": "a", "downwardAPI": {"items": items(text)}}), json!([]))
        }),
    ];
    let mut builder = Builder::new(bases().to_vec());
    let profile = json!({"apiVersion": "fabric-admission.dev/v1alpha1", "kind": "FabricProfile", "metadata": {"name": "p"},
        "spec": {"base": "roce-sriov"}});
    builder
        .add(Layer::Live, "fabric-admission.dev", "FabricProfile", &profile.to_string(), "")
        .map_err(|e| e.to_string())?;
    let snapshot = builder.build();
    for (what, make) in shapes {
        let allocated = |length: usize| {
            let (volume, mounts) = make(&shm, &items, &"n".repeat(length));
            let container = |i: usize| {
                json!({"name": format!("c{i}"), "image": "x", "volumeMounts": if i == 0 { mounts.clone() } else { json!([]) },
                "resources": {"limits": {"nvidia.com/gpu": 1}}})
            };
            let containers: Vec<Value> = (0..200).map(container).collect();
            let pod = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p", "namespace": "team",
                "annotations": {"fabric-admission.dev/profile": "p"}}, "spec": {"containers": containers, "volumes": [volume]}});
            let body = costly_products::body("", "Pod", pod);
            allocation_counter::measure(|| {
                costly_products::once(&body, WebhookEntry::Mutate, &snapshot);
            })
            .bytes_total
        };
        let [short, long] = [60, 60_000].map(allocated);
        assert!(long < short * 2 + (4 << 20), "{what}: {short} to {long} bytes");
    }
    Ok(())
}
