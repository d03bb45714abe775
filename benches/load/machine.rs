//! What the figures were measured on.

use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// The machine and the build, for the results.
pub(crate) fn describe(binary: &Path) -> Value {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let field = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
        line.split_once(':').map_or(String::new(), |(_, value)| value.trim().to_owned())
    };
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let version =
        Command::new(binary).arg("version").output().map(|output| output.stdout).unwrap_or_default();
    json!({
        "cpu": field(&read("/proc/cpuinfo"), "model name"),
        "cores": cores,
        "memory": field(&read("/proc/meminfo"), "MemTotal"),
        "kernel": read("/proc/sys/kernel/osrelease").trim(),
        "load": read("/proc/loadavg").trim(),
        "version": String::from_utf8_lossy(&version).trim(),
        "seconds_since_1970": std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |since| since.as_secs()),
    })
}
