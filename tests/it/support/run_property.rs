//! Runs a property on generated cases, and shows the smallest case and the seed of a failure.

use super::suite::Outcome;
use proptest::prelude::Strategy;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Runs a property on so many cases.
pub(crate) fn check<S: Strategy>(
    name: &str,
    cases: u32,
    strategy: S,
    property: impl Fn(S::Value) -> Result<(), String>,
) -> Outcome {
    let set = |key| std::env::var_os(key).is_some();
    let mut config = Config { failure_persistence: None, max_shrink_iters: 20_000, ..Config::default() };
    if !set("PROPTEST_CASES") {
        config.cases = cases;
    }
    // The same cases every time: a change is judged by what it changed. PROPTEST_RNG_SEED tries others.
    if !set("PROPTEST_RNG_SEED") {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        config.rng_seed = RngSeed::Fixed(hasher.finish());
    }
    let (cases, seed) = (config.cases, config.rng_seed);
    let result = TestRunner::new(config).run(&strategy, |value| property(value).map_err(TestCaseError::fail));
    result.map_err(|error| {
        let reported = match error {
            TestError::Fail(why, value) => format!("{why}\nsmallest case: {value:?}"),
            TestError::Abort(why) => why.to_string(),
        };
        format!(
            "{reported}\nagain: PROPTEST_RNG_SEED={seed} PROPTEST_CASES={cases} cargo test --test it {name}"
        )
        .into()
    })
}
