//! The pauses after a failed list or watch. A watch has two: one that grows after each failure, and a fixed one while the
//! kind is absent or forbidden. `default_watch_pauses_and_timeouts` has the longest one.

use super::state_shared_by_watches::StateSharedByWatches;
use std::time::Duration;

/// First pause after a failure; it doubles up to `WatchTimings::longest_pause`.
pub(super) const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// Pause of a list that is read once, before a page is asked for again; the second is twice as long.
pub(super) const FIRST_PAUSE_OF_LISTED_PAGE: Duration = Duration::from_secs(1);
/// Longest pause that an answer of the API server can ask for with `Retry-After` (seconds).
pub(super) const MAX_RETRY_AFTER: u64 = 60;
/// Watches in a row that may fail before the kind is listed again.
pub(super) const FAILED_WATCHES_BEFORE_LIST: u32 = 5;

/// Waits, and doubles the pause.
pub(super) async fn sleep_and_double_pause(pause: &mut Duration, shared: &StateSharedByWatches) {
    tokio::time::sleep(*pause).await;
    *pause = double_pause_within_bounds(*pause, shared);
}

/// Waits until a kind that is absent or forbidden is asked for again: it may be served by then.
pub(super) async fn sleep_before_asking_again(shared: &StateSharedByWatches) {
    tokio::time::sleep(shared.timings.longest_pause).await;
}

/// The pause after a pause that did not help.
pub(super) fn double_pause_within_bounds(pause: Duration, shared: &StateSharedByWatches) -> Duration {
    (pause * 2).clamp(FIRST_PAUSE, shared.timings.longest_pause.max(FIRST_PAUSE))
}
