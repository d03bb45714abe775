//! Instructions of ten reviews, counted by callgrind and compared with instructions.txt. More than 3 % above a figure is
//! an error. `cargo bench --bench guard`; `UPDATE_GOLDEN=1` writes the figures. Without valgrind nothing is compared.
//!
//! Instructions do not depend on the load of the machine. They depend on the toolchain and on the processor's
//! instruction set (memchr chooses its code at run time), which the file names.
//!
//! `cargo bench --bench guard -- phases "a Job"` shows by function where the instructions of a review go.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr
)]

mod phases;
mod reviews;
#[path = "../scene/mod.rs"]
mod scene;

use reviews::{reviews, snapshot};
use std::hint::black_box;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// How much a figure may grow, in percent.
const MOST: u64 = 3;
/// A review is decided this often in the shorter and in the longer run. The difference leaves out what a start costs.
const RUNS: [u64; 2] = [20, 120];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, once, name, times] = arguments.as_slice()
        && once == "once"
    {
        return repeat(name, times.parse().unwrap());
    }
    // `cargo bench` adds an argument of its own.
    if let [_, phases, name, ..] = arguments.as_slice()
        && phases == "phases"
    {
        return match phases::print(name) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::FAILURE
            }
        };
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("SKIPPED: valgrind is not installed, so no instructions were counted");
        return ExitCode::SUCCESS;
    }
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("benches/guard/instructions.txt");
    let mut text = format!(
        "# Instructions of a decision and its answer, without TLS and HTTP: cargo bench --bench guard.\n# {}, {}\n",
        output("rustc", &["--version"]).trim(),
        output("valgrind", &["--version"]).trim(),
    );
    let known = std::fs::read_to_string(&file).unwrap_or_default();
    let mut grown = Vec::new();
    for review in reviews() {
        let [short, long] = RUNS.map(|times| instructions(review.name, times));
        let each = (long - short) / (RUNS[1] - RUNS[0]);
        text += &format!("{each:>9}  {} ({} bytes)\n", review.name, review.bytes());
        let line = known.lines().find(|line| line.contains(review.name));
        let before: Option<u64> = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        match before {
            Some(before) if each * 100 <= before * (100 + MOST) => (),
            Some(before) => grown.push(format!("{}: {before} before, {each} now", review.name)),
            None => grown.push(format!("{}: not in {}", review.name, file.display())),
        }
    }
    print!("{text}");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, text).unwrap();
        return ExitCode::SUCCESS;
    }
    for line in &grown {
        eprintln!("error: {line}");
    }
    if grown.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Decides on a review so often.
fn repeat(name: &str, times: u64) -> ExitCode {
    let (reviews, snapshot) = (reviews(), snapshot());
    let review = reviews.iter().find(|review| review.name == name).unwrap();
    for _ in 0..times {
        black_box(review.answer(black_box(&snapshot)));
    }
    ExitCode::SUCCESS
}

/// Instructions of this program while it decides on a review so often.
fn instructions(name: &str, times: u64) -> u64 {
    let me = std::env::current_exe().unwrap();
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(me)
        .args(["once", name, &times.to_string()])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let collected = text.lines().find_map(|line| line.split_once("Collected : "));
    collected.unwrap_or_else(|| panic!("valgrind: {text}")).1.trim().parse().unwrap()
}

fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}
