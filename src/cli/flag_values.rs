//! Values that several groups of flags share.

use std::fmt::{self, Display};
use std::path::PathBuf;
use std::str::FromStr;

pub(super) fn parse_seconds_up_to_one_hour(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|s| (0.0..=3600.0).contains(s))
        .ok_or_else(|| "expected a number of seconds from 0 to 3600".to_owned())
}

/// For `--root`: in a directory that does not exist, every check would be skipped.
pub(super) fn parse_existing_directory(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.is_dir() { Ok(path) } else { Err("expected an existing directory".to_owned()) }
}

/// Identity of this replica: host name (a pod's name) and process id.
pub(super) fn replica_identity() -> String {
    let host = std::env::var("HOSTNAME").unwrap_or_default();
    format!("{host}_{}", std::process::id())
}

/// A duration, written as a number with a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DurationWithUnit(pub(super) i64);

const UNITS: [(&str, i64); 4] = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];

impl FromStr for DurationWithUnit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || "expected a duration, such as 90s, 10m, 72h or 365d".to_owned();
        let (digits, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
        let unit = if unit.is_empty() { "s" } else { unit };
        let (_, length) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(expected)?;
        digits.parse::<i64>().ok().and_then(|count| count.checked_mul(*length)).map(Self).ok_or_else(expected)
    }
}

impl Display for DurationWithUnit {
    /// In the largest unit that leaves a whole number of at least two, days only for more than three of them: `72h`,
    /// `365d`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = |(name, length): &&(&str, i64)| {
            self.0 % length == 0 && self.0 / length > if *name == "d" { 3 } else { 1 }
        };
        let (name, length) = UNITS.iter().find(fits).copied().unwrap_or(("s", 1));
        write!(f, "{}{name}", self.0 / length)
    }
}
