//! How long watches wait, and when what they know counts as stale.

use std::time::Duration;

/// How watches behave.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Longest pause before something that failed is tried again; also how often kinds that are absent or forbidden
    /// are asked for.
    pub retry: Duration,
    /// Server-side time limit of a watch. A stream that is silent for this long, and ten seconds, is given up.
    pub watch: Duration,
    /// Time without contact after which the facts of a kind count as stale, and responses report it.
    pub stale_after: Duration,
}

impl Pace {
    /// The defaults: the flags of `serve` show them.
    pub const DEFAULT: Self = Self {
        retry: Duration::from_secs(10),
        watch: Duration::from_secs(120),
        stale_after: Duration::from_secs(600),
    };
}

impl Default for Pace {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Deadline of one page of a list, and of the headers of a watch.
pub(super) const CALL: Duration = Duration::from_secs(30);
/// Least time between two Snapshots.
pub(super) const PUBLISH: Duration = Duration::from_millis(100);
