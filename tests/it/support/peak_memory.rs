//! The largest memory of a run of the binary.

use super::round_trip::same;
use super::{Scratch, binary};
use std::fs::File;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The largest resident memory (KiB) while the binary reads `input`, and ends with the exit code `code`. Linux only.
pub(crate) fn peak_memory(arguments: &[&str], input: &str, code: i32) -> Result<u64, String> {
    let scratch = Scratch::new()?;
    scratch.write("input", input)?;
    let input = File::open(scratch.path().join("input")).map_err(|e| e.to_string())?;
    let mut child = Command::new(binary())
        .args(arguments)
        .stdin(input)
        .stdout(Stdio::null())
        .spawn()
        .map_err(|e| e.to_string())?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    loop {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peak = line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(peak).max(peak);
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            same("exit code", Some(code), status.code())?;
            return Ok(peak);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
