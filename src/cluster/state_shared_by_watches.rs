//! State that all watches share.

use super::default_watch_pauses_and_timeouts::WatchTimings;
use super::{Metrics, SyncStateOfKinds};
use crate::snapshot::Builder;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// What all watches share.
pub(crate) struct StateSharedByWatches {
    pub(super) builder: Mutex<Builder>,
    pub(super) changed: Notify,
    pub(crate) sync: SyncStateOfKinds,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) timings: WatchTimings,
}

impl StateSharedByWatches {
    /// Locks the builder for `work`, without requesting a new Snapshot: for reads, and for changes that another call
    /// publishes. Never held across an await.
    pub(super) fn with_builder_unpublished<T>(&self, work: impl FnOnce(&mut Builder) -> T) -> T {
        let mut builder = self.builder.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut builder)
    }

    /// Notes that the API server answered for a kind.
    pub(super) fn record_contact(&self, kind: &'static str) {
        self.sync.record_contact(kind);
        self.metrics.set_contact_time_to_now(kind);
    }

    /// Changes the builder, and requests a new Snapshot if a fact has changed.
    pub(super) fn change_builder_and_request_snapshot<T>(&self, work: impl FnOnce(&mut Builder) -> T) -> T {
        let (done, changed) =
            self.with_builder_unpublished(|builder| (work(builder), builder.has_changed_since_build()));
        if changed {
            self.changed.notify_one();
        }
        done
    }
}
