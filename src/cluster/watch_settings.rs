//! Settings and constants of watches: deadlines, sizes of pages, the longest pause after a failure
//! (`pause_after_failure` has the pauses themselves), and when known facts count as stale.

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
    /// Deadline of one page of a list.
    pub request: Duration,
    /// How pages are sized by bytes; `None` for pages of a fixed number of objects.
    pub pages: Option<PageSize>,
}

/// Pages of about a number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageSize {
    /// Bytes of a page, about.
    pub bytes: usize,
    /// Most objects of a page.
    pub most: usize,
}

impl PageSize {
    /// Objects of the first page; later ones are as large as the objects allow.
    pub(super) const FIRST: usize = 25;
    /// Since Kubernetes 1.34 a list takes a seat of the API server's flow control for each 100 kB of its answer
    /// (k8s.io/apiserver pkg/util/flowcontrol/request/list_work_estimator.go).
    pub const DEFAULT: Self = Self { bytes: 1_000_000, most: 500 };

    /// The size of the next page, after one of so many bytes and objects.
    pub(super) fn next(self, bytes: usize, objects: usize) -> Option<usize> {
        let each = bytes.checked_div(objects)?;
        Some(self.bytes.checked_div(each).unwrap_or(self.most).clamp(1, self.most.max(1)))
    }
}

impl Pace {
    /// The defaults: the flags of `serve` show them.
    pub const DEFAULT: Self = Self {
        retry: Duration::from_secs(10),
        watch: Duration::from_secs(120),
        stale_after: Duration::from_secs(600),
        request: CALL,
        pages: None,
    };
    /// For a command that reads a cluster once.
    pub const ONCE: Self = Self { pages: Some(PageSize::DEFAULT), ..Self::DEFAULT };
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
