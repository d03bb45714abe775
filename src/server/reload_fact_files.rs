//! Profiles and facts from files: checked every few seconds and loaded all together. If any of them is invalid, the
//! previous set stays in use: half a set could give the ranks of one job different fabrics.

use super::shared_state::State;
use super::task_supervisor;
use crate::snapshot::Snapshot;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The source of snapshots.
pub struct FactFileSource {
    /// Check interval.
    pub every: Duration,
    /// The check. It reads files, so it is called where blocking is allowed.
    pub look: Box<dyn FnMut() -> FileCheck + Send>,
}

/// The result of a check.
#[derive(Debug)]
pub enum FileCheck {
    /// No change.
    Same,
    /// Changed, and all of it is valid.
    New(Box<Snapshot>),
    /// Changed, and a part is invalid: reported once; the previous set stays in use.
    Failed(String),
}

impl std::fmt::Debug for FactFileSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").field("every", &self.every).finish_non_exhaustive()
    }
}

/// A check that several runs of the task share, one after another.
pub(super) type Check = Arc<Mutex<Box<dyn FnMut() -> FileCheck + Send>>>;

/// Checks until aborted.
pub(super) async fn publish_changed_files_until_aborted(every: Duration, check: Check, state: Arc<State>) {
    // The same files that were invalid at the last check are still invalid.
    let mut failing = false;
    state.metrics.record_that_fact_files_are_valid();
    loop {
        tokio::time::sleep(every).await;
        let check = Arc::clone(&check);
        // A check that panicked leaves nothing half done: it notes files as known once it has read them.
        let look = move || check.lock().unwrap_or_else(PoisonError::into_inner)();
        match task_supervisor::run_blocking_and_pass_on_panic(look).await {
            None => {}
            Some(FileCheck::Same) if failing => {}
            Some(FileCheck::Same) => state.metrics.record_that_fact_files_are_valid(),
            Some(FileCheck::New(snapshot)) => {
                tracing::info!(
                    profiles = snapshot.profiles().count(),
                    "reloaded profiles and cluster objects from their files"
                );
                state.metrics.record_names_and_changed_profiles(&snapshot);
                state.snapshot.store(Arc::from(snapshot));
                state.metrics.count_reload_of_fact_files();
                state.metrics.record_that_fact_files_are_valid();
                failing = false;
            }
            Some(FileCheck::Failed(error)) => {
                tracing::error!(%error, "reload of profiles and cluster objects failed; the previous versions stay in use");
                state.metrics.count_failed_reload_of_fact_files();
                failing = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_check_that_panics_is_repeated_by_the_next_run() {
        let (state, mut looks) = (Arc::new(State::bare()), 0);
        let look = move || {
            looks += 1;
            assert!(looks > 1, "a bug");
            FileCheck::New(Box::default())
        };
        let check: Check = Arc::new(Mutex::new(Box::new(look)));
        let every = Duration::from_millis(1);
        let mut first = tokio::task::JoinSet::new();
        first.spawn(publish_changed_files_until_aborted(every, Arc::clone(&check), Arc::clone(&state)));
        assert!(first.join_next().await.unwrap().unwrap_err().is_panic());
        let second = publish_changed_files_until_aborted(every, check, Arc::clone(&state));
        assert!(tokio::time::timeout(Duration::from_millis(200), second).await.is_err());
        assert!(!state.metrics.text_for_scrape().contains("facts_reloads_total{result=\"failed\"}"));
        assert!(state.metrics.text_for_scrape().contains("facts_reloads_total{result=\"ok\"}"));
    }
}
