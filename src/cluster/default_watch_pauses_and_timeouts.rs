//! Defaults of the flags of watches: the longest pause after a failure, the time limit of a watch, and when known facts
//! count as stale. `pause_after_failure_or_absence` has the pauses up to the longest.

use super::call_deadline_and_failure_text::DEADLINE_OF_LIST_OR_WATCH;
use super::page_size::PageSize;
use std::time::Duration;

/// How watches behave.
#[derive(Debug, Clone, Copy)]
pub struct WatchTimings {
    /// Longest pause before something that failed is tried again; also how often kinds that are absent or forbidden
    /// are asked for.
    pub longest_pause: Duration,
    /// Server-side time limit of a watch. A stream that is silent for this long, and ten seconds, is given up.
    pub watch: Duration,
    /// Time without contact after which the facts of a kind count as stale, and responses report it.
    pub stale_after: Duration,
    /// Deadline of one page of a list.
    pub request: Duration,
    /// How pages are sized by bytes; `None` for pages of a fixed number of objects.
    pub pages: Option<PageSize>,
}

impl WatchTimings {
    /// The defaults: the flags of `serve` show them.
    pub const DEFAULT: Self = Self {
        longest_pause: Duration::from_secs(10),
        watch: Duration::from_secs(120),
        stale_after: Duration::from_secs(600),
        request: DEADLINE_OF_LIST_OR_WATCH,
        pages: None,
    };
    /// For a command that reads a cluster once.
    pub const ONCE: Self = Self { pages: Some(PageSize::DEFAULT), ..Self::DEFAULT };
}

impl Default for WatchTimings {
    fn default() -> Self {
        Self::DEFAULT
    }
}
