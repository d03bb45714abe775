//! Pods by chance through the real API server: what it takes without us it takes with us, and stores what the engine
//! says.
//!
//! `FABRIC_ADMISSION_PODS` asks for another number of them, `FABRIC_ADMISSION_SEED` for others.

use super::support::creates::{Creator, each};
use super::support::engine::Engine;
use super::support::fabrics::{FABRICS, Fabrics, Pair};
use super::support::plane::Plane;
use super::support::with_and_without_webhook::{Fate, fate};
use super::trial;
use crate::support::api_pods::{Site, adverse, at_level, pod};
use crate::support::generated_documents::{Dice, Documents};
use crate::support::suite::{Outcome, Suite};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

/// Pods of an ordinary run.
const PODS: u64 = 300;
/// Attempts at a smaller pod, once one fails.
const SHRINK: usize = 400;

pub(super) fn add(suite: &mut Suite, assets: &Path) {
    trial(suite, assets, "no_generated_pod_is_refused_because_of_us", generated);
}

fn number(name: &str, default: u64) -> Result<u64, String> {
    match std::env::var(name) {
        Err(_) => Ok(default),
        Ok(text) => text.parse().map_err(|_| format!("{name}={text:?}: a number is expected")),
    }
}

/// A pod, which pair of namespaces it goes to, and the seed of its adverse twin.
fn case(dice: &mut Dice<'_>) -> Value {
    let names: Vec<&str> = FABRICS.iter().map(|(name, _)| *name).collect();
    let site = Site { profiles: &names };
    let (mut pod, level) = (pod(&site, dice), dice.pick(&[0, 0, 0, 0, 0, 0, 1, 1, 2]));
    // Now and then one that is beyond its level.
    if dice.percent(95) {
        at_level(&mut pod, level);
    }
    json!({"pod": pod, "level": level, "twin": dice.below(1 << 30)})
}

/// Figures of a run.
#[derive(Debug, Default)]
struct Count {
    pods: usize,
    refused_bare: usize,
    unchanged: usize,
    patched: usize,
    denied: BTreeMap<String, usize>,
    twins: usize,
    twins_patched: usize,
}

/// What came of a pod and of its twin.
struct Both {
    own: Fate,
    twin: Option<Fate>,
}

/// Follows the pod of a case, and then a pod that has already for its own purposes what we wanted to add.
fn follow(api: &mut Creator<'_>, pairs: &[Pair], engine: &Engine, case: &Value) -> Result<Both, String> {
    let level = usize::try_from(case["level"].as_u64().unwrap_or(0)).unwrap_or(0);
    let review = |pod: &Value| engine.review(level, pod);
    let pod = &case["pod"];
    let own = fate(api, &pairs[level], pod, &review, &review)?;
    let twin = match &own {
        Fate::Patched(patched) => {
            let twin = adverse::twin(pod, patched, case["twin"].as_u64().unwrap_or(0));
            let followed = fate(api, &pairs[level], &twin, &review, &review);
            Some(followed.map_err(|error| format!("{error}\nits adverse twin: {twin}"))?)
        }
        _ => None,
    };
    Ok(Both { own, twin })
}

fn generated(plane: &Plane) -> Outcome {
    let (pods, seed) = (number("FABRIC_ADMISSION_PODS", PODS)?, number("FABRIC_ADMISSION_SEED", 1)?);
    let fabrics = Fabrics::start(plane, &[])?;
    let engine = Engine::new(&fabrics)?;
    let pairs = &fabrics.pairs;
    let mut runner = TestRunner::new(Config {
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..Config::default()
    });
    let (start, mut count) = (Instant::now(), Count::default());
    let mut why: BTreeMap<String, usize> = BTreeMap::new();
    let mut left = pods;
    while left > 0 {
        let now = left.min(500);
        left -= now;
        let trees: Result<Vec<_>, _> = (0..now).map(|_| Documents(case).new_tree(&mut runner)).collect();
        let mut trees = trees?;
        let cases: Vec<Value> = trees.iter().map(|t| t.current().0).collect();
        let fates = each(plane, &cases, |api, case| follow(api, pairs, &engine, case));
        for (nth, both) in fates.into_iter().enumerate() {
            match both {
                Ok(both) => count.add(&both, &mut why),
                Err(error) => {
                    let (error, smallest) = smallest(&mut trees[nth], error, |case| {
                        follow(&mut Creator::new(plane), pairs, &engine, case).err()
                    });
                    let nth = count.pods + 1;
                    return Err(format!(
                        "pod {nth} of seed {seed}: {error}\nsmallest case: {smallest}\n\
                         again: FABRIC_ADMISSION_SEED={seed} FABRIC_ADMISSION_PODS={pods} cargo test --test it e2e::no_generated"
                    )
                    .into());
                }
            }
        }
    }
    let mut why: Vec<_> = why.into_iter().collect();
    why.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    if std::env::var_os("FABRIC_ADMISSION_PODS").is_some() {
        eprintln!("refused bare: {:#?}", why.iter().take(12).collect::<Vec<_>>());
    }
    eprintln!("seed {seed}, {:.0?}: {count:?}", start.elapsed());
    assert!(count.refused_bare * 3 <= count.pods, "the API server refuses too many of them bare: {count:?}");
    assert!(count.patched * 5 >= (count.pods - count.refused_bare) * 2, "too few are patched: {count:?}");
    assert!(count.twins_patched * 3 >= count.twins, "too few twins are patched: {count:?}");
    Ok(())
}

impl Count {
    fn add(&mut self, both: &Both, why: &mut BTreeMap<String, usize>) {
        self.pods += 1;
        match &both.own {
            Fate::RefusedBare(reason) => {
                self.refused_bare += 1;
                // The reason without the pod's name and value.
                let reason = reason.split("is invalid: ").last().unwrap_or(reason);
                *why.entry(reason.chars().take(160).collect()).or_default() += 1;
            }
            Fate::Denied(rules) => {
                rules.iter().for_each(|rule| *self.denied.entry(rule.clone()).or_default() += 1);
            }
            Fate::Unchanged => self.unchanged += 1,
            Fate::Patched(_) => self.patched += 1,
        }
        self.twins += usize::from(both.twin.is_some());
        self.twins_patched += usize::from(matches!(both.twin, Some(Fate::Patched(_))));
    }
}

/// Makes a failing case smaller while it still fails.
fn smallest<T: ValueTree<Value = crate::support::generated_documents::Document>>(
    tree: &mut T,
    mut error: String,
    fails: impl Fn(&Value) -> Option<String>,
) -> (String, Value) {
    let mut best = tree.current().0;
    let mut more = tree.simplify();
    for _ in 0..SHRINK {
        if !more {
            break;
        }
        let now = tree.current().0;
        more = match fails(&now) {
            Some(why) => {
                (error, best) = (why, now);
                tree.simplify()
            }
            None => tree.complicate(),
        };
    }
    (error, best)
}
