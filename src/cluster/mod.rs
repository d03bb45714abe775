//! A live cluster: watches that put every change into the Snapshot's builder, and the publisher that hands Snapshots to
//! the server.
//!
//! ```text
//! list in pages -> watch line by line -> Builder (one lock, held for one object)
//!                                           `-> publish, at most ten times a second -> ArcSwap<Snapshot>
//! ```
//!
//! Everything that calls the API server is here, and nothing else: what an object means is decided in `facts`. Nothing
//! here is on the path of a request. Without the API server the last Snapshot stays in use.

mod back_off;
mod call;
pub mod certificate_objects;
pub mod client;
pub mod discovery;
pub mod dry_run;
mod event;
pub mod kinds;
mod lease;
mod list;
pub mod list_any_kind;
mod listed_names;
mod metrics;
mod phases;
pub mod prerequisites;
mod publish;
pub mod read_any_object;
mod read_watched_kinds;
mod shared;
pub mod status_writer;
mod text;
mod version;
mod watch;
mod watch_settings;

pub use call::CallFault;
pub use metrics::Metrics;
pub use phases::{Phase, Phases};
pub use read_watched_kinds::{OnceError, Seen, each, once, pod, some};
pub use watch_settings::{Pace, PageSize};

use crate::snapshot::{Builder, Snapshot};
use shared::Shared;
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// The watches of a cluster, as futures that never end by themselves. After a panic the caller starts the future again,
/// and it lists its kind again. Cheap to clone.
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
        sync: Phases,
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

    /// Compares the version of the API server with the versions that are supported.
    pub async fn check_version(self) {
        version::forever(self.client, self.shared).await;
    }

    /// Hands over each new Snapshot: the first once every kind has been listed, or is known to be absent or forbidden.
    pub async fn publish(self, publish: impl Fn(Snapshot) + Send + std::marker::Sync) {
        publish::forever(self.shared, publish).await;
    }
}
