//! The text of the metrics, written once for all scrapes that wait for it.
//!
//! Writing all series takes milliseconds, and a scrape is a request of 30 bytes. So the text is written outside of the admin
//! thread, once at a time, and with a pause in between. Every scrape gets a text that is newer than its request.

use super::shared_state::State;
use axum::body::Bytes;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// Shortest time from one writing to the next. A scrape waits for it at most once, so it stays below the 50 ms in which the
/// admin port answers.
const PAUSE: Duration = Duration::from_millis(25);

/// The last text.
#[derive(Default)]
pub(super) struct WrittenMetrics(Arc<Mutex<Option<(Instant, Bytes)>>>);

impl WrittenMetrics {
    /// A text that was begun after this call; `None` if writing it failed.
    pub(super) async fn wait_for_text_begun_after_call(&self, state: &Arc<State>) -> Option<Bytes> {
        let asked = Instant::now();
        let mut last = Arc::clone(&self.0).lock_owned().await;
        if let Some((begun, text)) = &*last {
            if *begun >= asked {
                return Some(text.clone());
            }
            tokio::time::sleep_until(*begun + PAUSE).await;
        }
        let state = Arc::clone(state);
        // A client that goes away does not end the writing, so the next one waits until it has ended.
        let writing = tokio::task::spawn_blocking(move || {
            let begun = Instant::now();
            let text = set_gauges_and_write_text(&state);
            *last = Some((begun, text.clone()));
            text
        });
        writing.await.ok()
    }
}

/// Seconds as days.
fn days(seconds: i64) -> f64 {
    let days = Duration::from_secs(seconds.unsigned_abs()).as_secs_f64() / 86_400.0;
    if seconds < 0 { -days } else { days }
}

fn set_gauges_and_write_text(state: &State) -> Bytes {
    let (requests, bytes) = state.budgets.requests_and_bytes_in_use();
    state.metrics.set_budget_use(requests, bytes);
    let days = state.expiry.seconds_until_expiry().map(days);
    state.metrics.set_fact_ages_and_certificate_days(state.sync.times_since_last_contact().into_iter(), days);
    state.metrics.text_for_scrape().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[tokio::test]
    async fn a_text_whose_client_goes_away_is_written_before_the_next() {
        let (metrics, state) = (WrittenMetrics::default(), Arc::new(State::bare()));
        tokio::select! {
            biased;
            _ = metrics.wait_for_text_begun_after_call(&state) => panic!("it is written on another thread"),
            () = std::future::ready(()) => {}
        }
        assert!(metrics.0.lock().await.is_some(), "the next one waits for it, and begins after the pause");
    }

    #[tokio::test]
    async fn scrapes_that_wait_together_share_a_text_and_no_scrape_gets_an_older_one() {
        let (metrics, state) = (Arc::new(WrittenMetrics::default()), Arc::new(State::bare()));
        let first = metrics.wait_for_text_begun_after_call(&state).await.unwrap();
        // Nothing is written until all of them wait, however slow the machine is.
        let writing = metrics.0.lock().await;
        let scrapes: Vec<_> = (0..50)
            .map(|_| {
                let (metrics, state) = (Arc::clone(&metrics), Arc::clone(&state));
                tokio::spawn(async move { metrics.wait_for_text_begun_after_call(&state).await.unwrap() })
            })
            .collect();
        // This runtime has one thread and runs its tasks in turn.
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        drop(writing);
        let mut texts = BTreeSet::new();
        for scrape in scrapes {
            texts.insert(scrape.await.unwrap().as_ptr());
        }
        assert_eq!(texts.len(), 1, "texts for 50 scrapes");
        assert!(!texts.contains(&first.as_ptr()));
    }
}
