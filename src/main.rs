//! The binary: all code is in the library, which the tests use too.

use std::process::ExitCode;

fn main() -> ExitCode {
    fabric_admission::manifest::install_quiet_panic_hook();
    ExitCode::from(fabric_admission_cli::cli::run() as u8)
}
