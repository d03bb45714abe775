//! Profiles and facts from files: checked every few seconds and loaded all together. If any of them is invalid, the
//! previous set stays in use: half a set could give the ranks of one job different fabrics.

use super::state::State;
use crate::snapshot::Snapshot;
use std::sync::Arc;
use std::time::Duration;

/// The source of snapshots.
pub struct Source {
    /// Check interval.
    pub every: Duration,
    /// The check. It reads files, so it is called where blocking is allowed.
    pub look: Box<dyn FnMut() -> Look + Send>,
}

/// The result of a check.
#[derive(Debug)]
pub enum Look {
    /// No change.
    Same,
    /// Changed, and all of it is valid.
    New(Box<Snapshot>),
    /// Changed, and a part is invalid: reported once; the previous set stays in use.
    Failed(String),
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").field("every", &self.every).finish_non_exhaustive()
    }
}

/// Checks until aborted.
pub(super) async fn reload(source: Source, state: Arc<State>) {
    let Source { every, mut look } = source;
    loop {
        tokio::time::sleep(every).await;
        let looked = tokio::task::spawn_blocking(move || {
            let found = look();
            (look, found)
        });
        match looked.await {
            Ok((again, found)) => {
                look = again;
                match found {
                    Look::Same => {}
                    Look::New(snapshot) => {
                        tracing::info!(profiles = snapshot.profiles().count(), "profiles and facts reloaded");
                        state.snapshot.store(Arc::from(snapshot));
                        state.metrics.facts_loaded();
                    }
                    Look::Failed(error) => {
                        tracing::error!(%error, "reload of profiles and facts failed; keeping the previous ones");
                        state.metrics.facts_failed();
                    }
                }
            }
            Err(error) => {
                tracing::error!(%error, "check of profiles and facts failed; no further checks");
                state.metrics.facts_failed();
                return;
            }
        }
    }
}
