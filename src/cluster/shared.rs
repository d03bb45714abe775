//! State that all watches share, and their pace.

use super::{Metrics, Phases};
use crate::snapshot::Builder;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// How watches behave.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Longest pause before something that failed is tried again; also how often kinds that are absent or forbidden
    /// are asked for.
    pub retry: Duration,
    /// Server-side time limit of a watch. A stream that is silent for this long, and ten seconds, is given up.
    pub watch: Duration,
    /// Time without contact after which the facts of a kind count as stale, and responses report it.
    pub stale: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            retry: Duration::from_secs(10),
            watch: Duration::from_secs(120),
            stale: Duration::from_secs(600),
        }
    }
}

/// Deadline of one page of a list, and of the headers of a watch.
pub(super) const CALL: Duration = Duration::from_secs(30);
/// Least time between two Snapshots.
pub(super) const PUBLISH: Duration = Duration::from_millis(100);

/// What all watches share.
pub(crate) struct Shared {
    pub(super) builder: Mutex<Builder>,
    pub(super) changed: Notify,
    pub(crate) sync: Phases,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) pace: Pace,
}

impl Shared {
    /// Locks the builder for `work`, without requesting a new Snapshot: for reads, and for changes that another call
    /// publishes. Never held across an await.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Builder) -> T) -> T {
        let mut builder = self.builder.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut builder)
    }

    /// Notes that the API server answered for a kind.
    pub(super) fn heard(&self, kind: &'static str) {
        self.sync.heard(kind);
        self.metrics.watch_contact(kind);
    }

    /// Changes the builder, and requests a new Snapshot if a fact has changed.
    pub(super) fn change<T>(&self, work: impl FnOnce(&mut Builder) -> T) -> T {
        let (done, changed) = self.with(|builder| (work(builder), builder.changed()));
        if changed {
            self.changed.notify_one();
        }
        done
    }
}
