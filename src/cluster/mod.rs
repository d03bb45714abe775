//! The living cluster: watches that fold every change into the Snapshot's builder, and the publisher that hands
//! Snapshots to the server.
//!
//! ```text
//! list in pages -> watch line by line -> Builder (one lock, held for one object)
//!                                           `-> publish, at most ten times a second -> ArcSwap<Snapshot>
//! ```
//!
//! Nothing here is on the path of a request. An API server that is away leaves the last Snapshot in place.

pub mod certificate_objects;
pub mod client;
mod event;
mod fault;
pub mod kinds;
mod lease;
mod list;
mod listed;
mod metrics;
mod once;
mod publish;
mod shared;
pub mod status;
mod sync;
mod watch;

pub(crate) use fault::CallFault;
pub use metrics::Metrics;
pub use once::{OnceError, Seen, once, pod};
pub use shared::Pace;
pub use sync::{Phase, Sync};

use crate::snapshot::{Builder, Snapshot};
use shared::Shared;
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

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
            tracing::error!(%error, "watch task died; its facts are not updated until a restart");
        }
    }
}
