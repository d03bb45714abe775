//! See `checks::nccl_log`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::cost::timed(data, checks::nccl_log));
