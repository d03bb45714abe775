//! The pauses of a watch: one that grows after each failed list or watch, and a fixed one while the kind is absent or
//! forbidden.

use super::watch_state::Shared;
use std::time::Duration;

/// First pause after a failure; it doubles up to `Pace::retry`.
pub(super) const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// Watches in a row that may fail before the kind is listed again.
pub(super) const MAX_FAILED: u32 = 5;

/// Waits, and doubles the pause.
pub(super) async fn rest(pause: &mut Duration, shared: &Shared) {
    tokio::time::sleep(*pause).await;
    *pause = longer(*pause, shared);
}

/// Waits until a kind that is absent or forbidden is asked for again: it may be served by then.
pub(super) async fn pause_until_served(shared: &Shared) {
    tokio::time::sleep(shared.pace.retry).await;
}

/// The pause after a pause that did not help.
pub(super) fn longer(pause: Duration, shared: &Shared) -> Duration {
    (pause * 2).clamp(FIRST_PAUSE, shared.pace.retry.max(FIRST_PAUSE))
}
