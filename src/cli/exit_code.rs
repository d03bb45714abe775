//! Exit codes.

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
