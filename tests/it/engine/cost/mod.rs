//! What a decision costs follows from the length of its input: every list, map and text that the tests know grows, alone
//! and in pairs, and eight times the input may cost about eight times as much CPU time.
//!
//! The short form tries as many shapes as fit into a few seconds, always the same ones. `FABRIC_ADMISSION_COST` is the
//! number of seconds of CPU for each way in, `FABRIC_ADMISSION_COST_BYTES` the size of the larger input,
//! `FABRIC_ADMISSION_COST_ONLY` a part of the names of shapes, and `FABRIC_ADMISSION_COST_TABLE` shows the dearest.

mod allocation_figures;
mod beside_claims;
mod beside_facts;
mod beside_known_objects;
mod beside_networks;
mod beside_policies;
mod copied_texts;
mod costly_per_byte;
mod costly_products;
mod discover_shapes;
mod embedded_json_is_read_once;
mod files_of_strangers;
mod grow_json;
mod looks_at_the_deadline;
mod many_long_names;
mod many_templates;
mod memory;
mod memory_of_a_namespace;
mod memory_of_kept_objects;
mod nccl_log;
mod objects_to_grow;
mod offline_aliases;
mod offline_findings;
mod offline_review;
mod repeated_in_workloads;
mod shared_lists_and_texts;
mod webhook_entries_and_offline;
mod wide_mappings;
mod workloads_and_updates;

use crate::support::suite::{Outcome, Suite};
use grow_json::{Growth, Shape, grown};
use objects_to_grow::Sample;
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;
use std::collections::BTreeSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::time::Duration;
use webhook_entries_and_offline::Way;

/// CPU time for each way in (s), in the short form.
const SECONDS: u64 = 6;
/// Shapes of each way that are measured on any machine: fewer would say little.
const FEWEST: usize = 5;
/// The larger input (bytes). Longer objects than 256 KiB and longer texts in them are not read by most rules.
const LARGE: usize = 160 << 10;
/// How many times shorter the smaller input is.
const TIMES: usize = 8;
/// How many times as much the larger input may cost. In proportion it is 8; a cost that is quadratic gives 64.
const MOST: f64 = 20.0;
/// A ratio that is measured again. No bound is lower, so that nothing fails that was measured once.
const SUSPICIOUS: f64 = 12.0;
/// What the smaller input costs at least: less is a matter of caches and page faults.
const FLOOR: Duration = Duration::from_millis(1);

pub(crate) fn add(suite: &mut Suite) {
    for (name, way) in Way::ALL {
        suite.add(format!("cost::{name}"), move || proportionate(way));
    }
    suite.add("cost::review", offline_review::proportionate);
    suite.add("cost::findings_in_long_documents", offline_findings::proportionate);
    suite.add("cost::repeated_keys_in_lists_in_lists", offline_aliases::repeated_keys);
    suite.add("cost::places_of_findings_beside_copies", offline_aliases::places_of_findings);
    suite.add("cost::names_that_are_near_to_many", offline_aliases::near_names);
    suite.add("cost::why_of_containers_with_the_same_resources", offline_aliases::resources_of_containers);
    suite.add("cost::files_of_strangers", files_of_strangers::proportionate);
    suite.add("cost::discover", offline_review::discover);
    suite.add("cost::policies_of_one_file", offline_review::policies);
    suite.add("cost::pods_that_ask_for_single_nodes", offline_review::why);
    suite.add("cost::discover_of_many_groups", discover_shapes::proportionate);
    suite.add("cost::costly_products", costly_products::proportionate);
    suite.add("cost::logs_of_nccl", nccl_log::proportionate);
    suite.add("cost::costly_per_byte", costly_per_byte::in_bounds);
    suite.add("cost::defaults_within_defaults_of_a_script", costly_per_byte::nested_defaults);
    suite.add("cost::embedded_json_is_read_once", embedded_json_is_read_once::read_once);
    suite.add("cost::beside_known_objects", beside_known_objects::proportionate);
    suite.add("cost::looks_at_the_deadline", looks_at_the_deadline::asked_often);
    suite.add("cost::allocations", allocation_figures::allocations);
    suite.add("cost::the_page_on_performance_has_the_figures", allocation_figures::page);
    copied_texts::add(suite);
    wide_mappings::add(suite);
    memory::add(suite);
    memory_of_kept_objects::add(suite);
    memory_of_a_namespace::add(suite);
}

/// CPU time of this thread.
fn now() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

fn given<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

/// One shape or two of a sample.
struct Trial<'a> {
    sample: &'a Sample,
    shapes: Vec<Shape>,
    update: bool,
    label: String,
}

/// What a trial took.
struct Taken {
    label: String,
    small: Duration,
    large: Duration,
    ratio: f64,
    bytes: usize,
}

fn proportionate(way: Way) -> Outcome {
    let seconds = Duration::from_secs(given("FABRIC_ADMISSION_COST").unwrap_or(SECONDS));
    let large = given("FABRIC_ADMISSION_COST_BYTES").unwrap_or(LARGE);
    let only: Option<String> = given("FABRIC_ADMISSION_COST_ONLY");
    let mut trials = trials(way);
    trials.retain(|t| only.as_ref().is_none_or(|part| t.label.contains(part)));
    let (all, started) = (trials.len(), now());
    let mut taken = Vec::new();
    for trial in trials {
        if now() - started > seconds && taken.len() >= FEWEST {
            break;
        }
        taken.push(measure(way, &trial, large));
    }
    verdict(&format!("{way:?}"), &taken, all, MOST)
}

/// Fails for what is out of proportion.
fn verdict(way: &str, taken: &[Taken], all: usize, most: f64) -> Outcome {
    if std::env::var_os("FABRIC_ADMISSION_COST_TABLE").is_some() {
        table(way, taken, all);
    }
    let wrong: Vec<String> = taken.iter().filter(|t| t.ratio > most).map(|t| t.line()).collect();
    assert!(most >= SUSPICIOUS, "what is above {most} was not always measured again");
    assert!(taken.len() >= all.min(FEWEST), "{} of {all} shapes", taken.len());
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!("more than in proportion:\n{}", wrong.join("\n")).into())
    }
}

impl Taken {
    fn line(&self) -> String {
        let Self { label, small, large, ratio, bytes } = self;
        format!("{ratio:5.1} times: {small:.1?} to {large:.1?} for {bytes} bytes: {label}")
    }
}

fn table(way: &str, taken: &[Taken], all: usize) {
    let mut by: Vec<&Taken> = taken.iter().collect();
    eprintln!("{way}: {} of {all} shapes; by their ratio:", taken.len());
    by.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
    by.iter().take(15).for_each(|t| eprintln!("  {}", t.line()));
    eprintln!("by their cost:");
    by.sort_by_key(|t| std::cmp::Reverse(t.large));
    by.iter().take(15).for_each(|t| eprintln!("  {}", t.line()));
}

/// The trials of a way: each shape of each kind once, single ones of lists and maps and one in six of texts before all
/// others.
fn trials(way: Way) -> Vec<Trial<'static>> {
    let mut seen = BTreeSet::new();
    let mut trials: Vec<(u64, Trial<'static>)> = Vec::new();
    let mut put = |sample, shapes: Vec<Shape>, update: bool| {
        let (group, kind) = Sample::kind(sample);
        let places: Vec<String> = shapes.iter().map(Shape::label).collect();
        let label = format!("{group} {kind}{} {}", if update { " UPDATE" } else { "" }, places.join(" + "));
        if !seen.insert(label.clone()) {
            return;
        }
        let mut hasher = DefaultHasher::new();
        label.hash(&mut hasher);
        let chance = hasher.finish() >> 8;
        let late = match shapes.as_slice() {
            [shape] if !shape.is_text() => u64::from(update && !chance.is_multiple_of(4)),
            [_] => u64::from(update || !chance.is_multiple_of(6)),
            _ => u64::from(!chance.is_multiple_of(8)),
        };
        trials.push((late << 56 | chance, Trial { sample, shapes, update, label }));
    };
    let updates = matches!(way, Way::Object | Way::Workload);
    for sample in objects_to_grow::all().iter().filter(|s| way.takes(s)) {
        let shapes = grow_json::shapes(&webhook_entries_and_offline::object(sample));
        let pairs: Vec<&Shape> =
            shapes.iter().filter(|s| matches!(s.growth, Growth::Named | Growth::Keys)).collect();
        for (i, one) in pairs.iter().enumerate() {
            for other in pairs.iter().skip(i + 1).take(40) {
                put(sample, vec![(*one).clone(), (*other).clone()], false);
            }
        }
        for [text, list] in copied_texts::texts_beside_lists(&shapes) {
            put(sample, vec![text.clone(), list.clone()], false);
        }
        for shape in &shapes {
            put(sample, vec![shape.clone()], false);
            if updates {
                put(sample, vec![shape.clone()], true);
            }
        }
    }
    trials.sort_by_key(|(order, _)| *order);
    trials.into_iter().map(|(_, trial)| trial).collect()
}

/// Compares what an input costs with what one of eight times its size costs.
fn measure(way: Way, trial: &Trial<'_>, large: usize) -> Taken {
    let Trial { sample, shapes, update, label } = trial;
    let snapshot = webhook_entries_and_offline::snapshot(sample);
    let object = webhook_entries_and_offline::object(sample);
    let input = |bytes: usize| -> Vec<u8> {
        let object: Value =
            shapes.iter().fold(object.clone(), |object, shape| grown(&object, shape, bytes / shapes.len()));
        way.input(sample, &object, *update)
    };
    let cost = |input: &[u8], times: usize| -> Duration {
        let once = || {
            let before = now();
            way.run(sample, input, &snapshot);
            now() - before
        };
        (0..times).map(|_| once()).min().unwrap_or_default()
    };
    compare(format!("{label} ({})", sample.from), [0, large / TIMES, large].map(input), FLOOR, cost)
}

/// Compares what two inputs cost beyond a third; what looks too much is measured again.
fn compare(
    label: String,
    inputs: [Vec<u8>; 3],
    floor: Duration,
    cost: impl Fn(&[u8], usize) -> Duration,
) -> Taken {
    let [none, small, much] = &inputs;
    let ratio = |times: usize| {
        let base = cost(none, times);
        let small = cost(small, times).saturating_sub(base);
        let large = cost(much, times).saturating_sub(base);
        (small, large, large.as_secs_f64() / small.max(floor).as_secs_f64())
    };
    let mut taken = ratio(1);
    for _ in 0..3 {
        if taken.2 <= SUSPICIOUS {
            break;
        }
        let again = ratio(3);
        taken = if again.2 < taken.2 { again } else { taken };
    }
    Taken { label, small: taken.0, large: taken.1, ratio: taken.2, bytes: much.len() }
}
