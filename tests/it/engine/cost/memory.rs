//! A decision takes hardly more memory than the server reckons before it decodes a body (`server::DecisionMemoryEstimate`): for every
//! list, map and text that the tests know, grown alone. The same settings as for the cost; `FABRIC_ADMISSION_COST_TABLE` shows
//! the dearest.

use super::webhook_entries_and_offline::{self, Way};
use super::{
    LARGE, SECONDS, Shape, Trial, beside_claims, beside_facts, beside_known_objects, costly_products, given,
    grown, now, shared_lists_and_texts, trials, workloads_and_updates,
};
use crate::support::suite::{Outcome, Suite};
use fabric_admission::review::decide_webhook_request::SnapshotForAudience;
use fabric_admission::server::DecisionMemoryEstimate;
use fabric_admission::snapshot::Audience;
use std::time::Duration;

/// What a decision takes beside the body and what is decoded of it (bytes): findings and the answer, which have limits of
/// their own.
const FIXED: u64 = 256 << 10;
/// How many times what is reckoned a decision may take. The most that was found is one and a half times, for which the
/// limit of the Deployment has room (docs/reliability.md).
const MARGIN: u64 = 2;
/// How often a text is in memory at once, at most. Entries do not count for it, so this is beyond what is reckoned; texts
/// of more than 256 KiB are not read.
const COPIES: u64 = 12;

/// What a decision may take of the known objects that a request names (bytes): a JobSet made of a TrainingRuntime, and
/// the settings in the scripts of ConfigMaps.
const BESIDE: u64 = 4 << 20;

pub(super) fn add(suite: &mut Suite) {
    for (name, way) in Way::ALL.into_iter().filter(|(_, way)| *way != Way::Fact) {
        suite.add(format!("memory::{name}"), move || weighed(way));
    }
    suite.add("memory::crafted", of_crafted);
    suite.add("memory::known", of_known);
}

/// Requests that are laid beside known objects, see [`beside_facts`].
fn of_known() -> Outcome {
    let mut wrong = Vec::new();
    let shapes =
        beside_facts::SHAPES.iter().chain(&beside_claims::SHAPES).chain(&shared_lists_and_texts::SHAPES);
    let shapes = shapes.map(|shape| (shape, Audience::Anyone));
    let updates = workloads_and_updates::SHAPES.iter().map(|shape| (shape, Audience::Tenant));
    for ((what, make), audience) in shapes.chain(updates) {
        let (object, objects) = make(800);
        let (entry, input) = beside_known_objects::request(object);
        let snapshot = beside_known_objects::snapshot(&objects);
        // What is made once in a process, or for a snapshot, is made now.
        let known = SnapshotForAudience { snapshot: &snapshot, audience };
        costly_products::once_for(&beside_known_objects::request(make(2).0).1, entry, known);
        let mut weight = DecisionMemoryEstimate::default();
        weight.weigh_next_part_of_body(&input);
        let decide = || {
            costly_products::once_for(&input, entry, known);
        };
        let took = allocation_counter::measure(decide).bytes_max;
        let (bytes, weight) = (input.len() as u64, weight.memory_of_decision() as u64);
        let beyond = BESIDE + COPIES * bytes;
        let taken = Taken { label: (*what).to_owned(), bytes, took: bytes + took, weight, beyond };
        if taken.took > taken.weight * MARGIN + taken.beyond {
            wrong.push(taken.line());
        }
        eprintln!("{}", taken.line());
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// Objects that were made up, see [`crafted`].
fn of_crafted() -> Outcome {
    let snapshot = costly_products::snapshot()?;
    let mut wrong = Vec::new();
    for (group, kind, what, make) in costly_products::SHAPES {
        let entry = costly_products::entry(group, kind);
        // What is made once in a process is made now.
        costly_products::once(&costly_products::body(group, kind, make(1)), entry, &snapshot);
        let input = costly_products::body(group, kind, make(800));
        let mut weight = DecisionMemoryEstimate::default();
        weight.weigh_next_part_of_body(&input);
        let decide = || {
            costly_products::once(&input, entry, &snapshot);
        };
        let took = allocation_counter::measure(decide).bytes_max;
        let (bytes, weight) = (input.len() as u64, weight.memory_of_decision() as u64);
        let label = format!("{kind}: {what}");
        let taken = Taken { label, bytes, took: bytes + took, weight, beyond: FIXED + COPIES * bytes };
        if taken.took > taken.weight * MARGIN + taken.beyond {
            wrong.push(taken.line());
        }
        eprintln!("{}", taken.line());
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

struct Taken {
    label: String,
    /// The body.
    bytes: u64,
    /// The body and what the decision took beside it.
    took: u64,
    /// What was reckoned.
    weight: u64,
    /// What may be taken beyond it.
    beyond: u64,
}

impl Taken {
    fn line(&self) -> String {
        let Self { label, bytes, took, weight, .. } = self;
        let (each, of_weight) = (*took as f64 / *bytes as f64, *took as f64 / *weight as f64);
        format!("{each:5.1} bytes per byte, {of_weight:4.2} of {weight}: {label}")
    }
}

fn measure(way: Way, trial: &Trial<'_>, large: usize) -> Taken {
    let Trial { sample, shapes, update, label } = trial;
    let snapshot = webhook_entries_and_offline::snapshot(sample);
    let object = shapes
        .iter()
        .fold(webhook_entries_and_offline::object(sample), |object, shape| grown(&object, shape, large));
    let input = way.input(sample, &object, *update);
    let mut weight = DecisionMemoryEstimate::default();
    weight.weigh_next_part_of_body(&input);
    let took = allocation_counter::measure(|| way.run(sample, &input, &snapshot)).bytes_max;
    let (bytes, weight) = (input.len() as u64, weight.memory_of_decision() as u64);
    let beyond = FIXED + if shapes.iter().any(Shape::is_text) { COPIES * bytes } else { 0 };
    Taken { label: label.clone(), bytes, took: bytes + took, weight, beyond }
}

fn weighed(way: Way) -> Outcome {
    let seconds = Duration::from_secs(given("FABRIC_ADMISSION_COST").unwrap_or(SECONDS / 2));
    let large = given("FABRIC_ADMISSION_COST_BYTES").unwrap_or(LARGE);
    let only: Option<String> = given("FABRIC_ADMISSION_COST_ONLY");
    let mut trials = trials(way);
    trials.retain(|t| t.shapes.len() == 1 && only.as_ref().is_none_or(|part| t.label.contains(part)));
    // What is made once in a process is made now.
    if let Some(first) = trials.first() {
        drop(measure(way, first, 0));
    }
    let (all, started) = (trials.len(), now());
    let in_time = |_: &&Trial<'_>| now() - started <= seconds;
    let mut taken: Vec<Taken> = trials.iter().take_while(in_time).map(|t| measure(way, t, large)).collect();
    assert!(taken.len() >= all.min(5), "{} of {all} shapes", taken.len());
    if std::env::var_os("FABRIC_ADMISSION_COST_TABLE").is_some() {
        eprintln!("{way:?}: {} of {all} shapes; by their memory per byte:", taken.len());
        taken.sort_by_key(|t| std::cmp::Reverse(t.took * 1000 / t.bytes));
        taken.iter().take(15).for_each(|t| eprintln!("  {}", t.line()));
        eprintln!("by their memory over what was reckoned:");
        taken.sort_by_key(|t| std::cmp::Reverse(t.took * 1000 / t.weight));
        taken.iter().take(15).for_each(|t| eprintln!("  {}", t.line()));
    }
    let wrong: Vec<String> =
        taken.iter().filter(|t| t.took > t.weight * MARGIN + t.beyond).map(Taken::line).collect();
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!("more than is reckoned:\n{}", wrong.join("\n")).into())
    }
}
