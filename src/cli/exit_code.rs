//! Exit codes, and which of them a review ends with.

use crate::rules::Severity;
use clap::ValueEnum;

/// Exit code of a command; the same for every format and mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Nothing to report.
    Clean = 0,
    /// A finding reaches `--fail-on`.
    Findings = 1,
    /// Unreadable input, or wrong usage.
    Usage = 2,
    /// Internal error, or an unreachable cluster.
    Internal = 3,
}

/// Lowest severity that makes the exit code 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum FailOn {
    Error,
    Warning,
    Info,
    Never,
}

impl Exit {
    /// The code of a review: unreadable input first, then the most severe finding.
    pub(super) fn of_review(unreadable: bool, worst: Option<Severity>, fail_on: FailOn) -> Self {
        let least = match fail_on {
            _ if unreadable => return Self::Usage,
            FailOn::Error => Severity::Error,
            FailOn::Warning => Severity::Warning,
            FailOn::Info => Severity::Info,
            FailOn::Never => return Self::Clean,
        };
        if worst.is_some_and(|worst| worst >= least) { Self::Findings } else { Self::Clean }
    }
}
