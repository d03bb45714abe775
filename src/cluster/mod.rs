//! A live cluster: watches that put every change into the Snapshot's builder, and the publisher that hands Snapshots to the
//! server.
//!
//! ```text
//! list in pages -> watch line by line -> Builder (one lock, held for one object)
//!                                           `-> publish, at most ten times a second -> ArcSwap<Snapshot>
//! ```
//!
//! Nothing here is on the path of a request. Without the API server the last Snapshot stays in use.

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

/// The watches of a cluster, as futures that never end by themselves. After a panic the caller starts the future again,
/// and it lists its kind anew. Cheap to clone.
#[derive(Clone)]
pub struct Watches {
    client: kube::Client,
    shared: Arc<Shared>,
}

impl Watches {
    /// The watches of this client's cluster; `builder` has the facts that are known already.
    #[must_use]
    pub fn new(
        client: kube::Client,
        builder: Builder,
        pace: Pace,
        sync: Sync,
        metrics: Arc<Metrics>,
    ) -> Self {
        let changed = Notify::new();
        let shared = Arc::new(Shared { builder: Mutex::new(builder), changed, sync, metrics, pace });
        Self { client, shared }
    }

    /// Lists and watches a kind.
    pub async fn follow(self, kind: &'static kinds::Watched) {
        watch::forever(kind, self.client, self.shared).await;
    }

    /// Hands over each new Snapshot: the first once every kind has been listed, or is known to be absent or forbidden.
    pub async fn publish(self, publish: impl Fn(Snapshot) + Send + std::marker::Sync) {
        publish::forever(self.shared, publish).await;
    }
}
