//! See `checks::review`. Inputs are JSON and mostly stay JSON.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|data: &[u8]| checks::cost::timed(data, checks::review));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    match checks::mutate::json(data, size, max_size, seed) {
        Some(size) => size,
        None => fuzzer_mutate(data, size, max_size),
    }
});
