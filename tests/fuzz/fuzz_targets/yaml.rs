//! See `checks::yaml`.
#![no_main]

// libFuzzer ends at any panic, also at that of the YAML parser, which `manifest::read_documents` catches and reports as an error.
// Ours is asked first and hands every other panic on.
libfuzzer_sys::fuzz_target!(
    init: fabric_admission::manifest::install_quiet_panic_hook(),
    |data: &[u8]| checks::cost::timed(data, checks::yaml)
);
