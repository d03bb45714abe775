//! Profiles and facts from files: looked at again every few seconds, taken all together, and kept as they were when
//! any of them cannot be used. Half a set could give the ranks of one job different fabrics.

use super::state::State;
use crate::snapshot::Snapshot;
use std::sync::Arc;
use std::time::Duration;

/// Where snapshots come from.
pub struct Source {
    /// Time between two looks.
    pub every: Duration,
    /// Looks. Reads files, so it is called where blocking is allowed.
    pub look: Box<dyn FnMut() -> Look + Send>,
}

/// What a look finds.
#[derive(Debug)]
pub enum Look {
    /// What is there already.
    Same,
    /// Something else, and all of it can be used.
    New(Box<Snapshot>),
    /// Something that cannot be used, told once; the last good one stays.
    Failed(String),
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").field("every", &self.every).finish_non_exhaustive()
    }
}

/// Looks until aborted.
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
                        tracing::error!(%error, "profiles and facts cannot be reloaded; the last good ones stay");
                        state.metrics.facts_failed();
                    }
                }
            }
            Err(error) => {
                tracing::error!(%error, "looking at profiles and facts failed; they are not looked at again");
                state.metrics.facts_failed();
                return;
            }
        }
    }
}
