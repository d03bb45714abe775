//! The living cluster: watches that fold every change into the Snapshot's builder, and the publisher that hands
//! Snapshots to the server.
//!
//! ```text
//! list in pages -> watch line by line -> Builder (one lock, held for one object)
//!                                           `-> publish, at most ten times a second -> ArcSwap<Snapshot>
//! ```
//!
//! Nothing here is on the path of a request. An API server that is away leaves the last Snapshot in place.

pub mod client;
mod event;
pub mod kinds;
mod lease;
mod list;
mod listed;
mod once;
pub mod own;
mod publish;
pub mod status;
mod sync;
mod watch;

pub use once::{OnceError, Seen, once, pod};
pub use sync::{Phase, Sync};

use crate::server::Metrics;
use crate::snapshot::{Builder, Snapshot};
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
    /// Silence after which what is known of a kind counts as old, and answers say so.
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
const CALL: Duration = Duration::from_secs(30);
/// Least time between two Snapshots.
const PUBLISH: Duration = Duration::from_millis(100);

/// What all watches share.
pub(crate) struct Shared {
    builder: Mutex<Builder>,
    changed: Notify,
    pub(crate) sync: Sync,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) pace: Pace,
}

impl Shared {
    /// Works on the builder. Never held across an await.
    fn with<T>(&self, work: impl FnOnce(&mut Builder) -> T) -> T {
        let mut builder = self.builder.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut builder)
    }

    /// Notes that the API server answered for a kind.
    fn heard(&self, kind: &'static str) {
        self.sync.heard(kind);
        self.metrics.watch_contact(kind);
    }

    /// Works on the builder, and has a Snapshot made of it if that told anything new.
    fn change<T>(&self, work: impl FnOnce(&mut Builder) -> T) -> T {
        let (done, changed) = self.with(|builder| (work(builder), builder.changed()));
        if changed {
            self.changed.notify_one();
        }
        done
    }
}

/// Watches every kind until dropped. `publish` gets each new Snapshot, the first once every kind has been listed, or
/// is known to be absent or forbidden.
pub async fn run(
    client: kube::Client,
    builder: Builder,
    pace: Pace,
    sync: Sync,
    metrics: Arc<Metrics>,
    publish: impl Fn(Snapshot) + Send + std::marker::Sync + 'static,
) {
    let shared =
        Arc::new(Shared { builder: Mutex::new(builder), changed: Notify::new(), sync, metrics, pace });
    let mut tasks = tokio::task::JoinSet::new();
    for kind in kinds::WATCHED {
        tasks.spawn(watch::forever(kind, client.clone(), Arc::clone(&shared)));
    }
    tasks.spawn(publish::forever(Arc::clone(&shared), publish));
    // None of them ends by itself. One that dies of a bug must not take the others along.
    while let Some(ended) = tasks.join_next().await {
        if let Err(error) = ended
            && error.is_panic()
        {
            tracing::error!(%error, "a watch died; what it knew stays as it is until a restart");
        }
    }
}
