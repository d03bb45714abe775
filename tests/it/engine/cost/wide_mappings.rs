//! A mapping of a request may have 200,000 keys, and a sorted map of them takes half a second where their order is random. So
//! no mapping of an object allocates memory for each of its keys. The number of allocations is the same on every machine.

use super::grow_json::{self, Growth, Shape, grown};
use super::objects_to_grow::{self, Sample};
use super::webhook_entries_and_offline::{self, Way};
use super::{SECONDS, given, now};
use crate::support::suite::{Outcome, Suite};
use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::time::Duration;

/// How much longer a mapping gets (bytes). No rule reads an object of more than 256 KiB as a document.
const LENGTH: usize = 400 << 10;
/// Bytes of an object for each allocation, at least. A key that differs from others, with an empty text, takes ten.
const BYTES_PER_ALLOCATION: u64 = 48;
/// What a decision allocates anyway, and what the entries of a mapping allocate up to the limit of their number (count).
const ANYWAY: u64 = 3_000;

/// Mappings that the webhook keeps in full, and who writes them: no tenant does.
const KEPT: [(&str, &str, &str); 2] = [
    ("Node", "/metadata/labels", "kubelets and administrators write them; pods ask for nodes by any label"),
    ("Namespace", "/metadata/labels", "administrators write them; profiles select namespaces by any label"),
];

pub(super) fn add(suite: &mut Suite) {
    for (name, way) in Way::ALL {
        suite.add(format!("cost::no_key_of_a_wide_mapping_is_kept::{name}"), move || kept(way));
    }
}

fn kept(way: Way) -> Outcome {
    let seconds = Duration::from_secs(given("FABRIC_ADMISSION_COST").unwrap_or(SECONDS));
    let mut trials: BTreeMap<u64, (&Sample, Shape, String)> = BTreeMap::new();
    for sample in objects_to_grow::all().iter().filter(|s| way.takes(s)) {
        let (group, kind) = sample.kind();
        for shape in grow_json::shapes(&webhook_entries_and_offline::object(sample)) {
            let kept = KEPT.iter().any(|(kept, path, _)| *kept == kind && shape.label().starts_with(path));
            if matches!(shape.growth, Growth::NullKeys | Growth::Prefixed) && !kept {
                let label = format!("{group} {kind} {}", shape.label());
                let mut hasher = DefaultHasher::new();
                label.hash(&mut hasher);
                trials.entry(hasher.finish()).or_insert((sample, shape, label));
            }
        }
    }
    let (all, started) = (trials.len(), now());
    let (mut tried, mut wrong) = (0, Vec::new());
    for (sample, shape, label) in trials.into_values() {
        if now() - started > seconds {
            break;
        }
        tried += 1;
        let object = webhook_entries_and_offline::object(sample);
        let snapshot = webhook_entries_and_offline::snapshot(sample);
        let allocations = |length: usize| {
            let input = way.input(sample, &grown(&object, &shape, length), false);
            let run = || way.run(sample, &input, &snapshot);
            (input.len() as u64, allocation_counter::measure(run).count_total)
        };
        // What is made once in a process, or for a snapshot, is made now.
        let (_, none) = allocations(0);
        let (bytes, with_keys) = allocations(LENGTH);
        let more = with_keys.saturating_sub(none);
        if more > ANYWAY + bytes / BYTES_PER_ALLOCATION {
            wrong.push(format!("{more} allocations in {bytes} bytes: {label} ({})", sample.from));
        }
    }
    eprintln!("{way:?}: {tried} of {all} mappings");
    assert!(tried >= all.min(5), "{tried} of {all} mappings");
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}
