//! The binary: everything is in the library, which the tests use as well.

use std::process::ExitCode;

fn main() -> ExitCode {
    fabric_admission::manifest::install_quiet_panic_hook();
    ExitCode::from(fabric_admission::cli::run() as u8)
}
