//! How a command ends.

/// How a command ends; the same for every format and mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Nothing to report.
    Clean = 0,
    /// A finding reaches `--fail-on`.
    Findings = 1,
    /// Input that could not be read, or wrong usage.
    Usage = 2,
    /// Our own fault, or a cluster out of reach.
    Internal = 3,
}
