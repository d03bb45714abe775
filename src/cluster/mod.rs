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

pub mod api_client;
mod api_server_version;
mod call_deadline;
pub mod certificate_objects;
pub mod create_pod_as_dry_run;
mod default_watch_pauses_and_timeouts;
mod leader_lease;
pub mod list_any_kind;
mod list_pages;
mod lossy_utf8;
pub mod missing_prerequisites;
mod packed_names_of_listed_objects;
mod page_size;
mod pause_after_failure_or_absence;
mod publish_snapshots;
pub mod read_any_object;
mod read_watched_kinds;
mod watch_lines;
mod watch_metrics;
mod watch_one_kind;
mod watch_state;
pub mod watched_kinds;
mod when_is_kind_synced_or_silent;
pub mod which_kinds_are_served_for_commands;
pub mod write_profile_status;

pub use call_deadline::CallFault;
pub use default_watch_pauses_and_timeouts::WatchTimings;
pub use page_size::PageSize;
pub use read_watched_kinds::{
    OnceError, Seen, pod, read_all_despite_failures, read_all_or_fail, read_wanted_kinds,
};
pub use watch_metrics::Metrics;
pub use when_is_kind_synced_or_silent::{Phase, Phases};

use crate::snapshot::{Builder, Snapshot};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;
use watch_state::Shared;

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
        timings: WatchTimings,
        sync: Phases,
        metrics: Arc<Metrics>,
    ) -> Self {
        let changed = Notify::new();
        let shared = Arc::new(Shared { builder: Mutex::new(builder), changed, sync, metrics, timings });
        Self { client, shared }
    }

    /// Lists and watches a kind.
    pub async fn list_and_watch_kind(self, kind: &'static watched_kinds::Watched) {
        watch_one_kind::list_and_watch(kind, self.client, self.shared).await;
    }

    /// Compares the version of the API server with the versions that are supported.
    pub async fn check_version(self) {
        api_server_version::check_version_repeatedly(self.client, self.shared).await;
    }

    /// Hands over each new Snapshot: the first once every kind has been listed, or is known to be absent or forbidden.
    pub async fn publish(self, publish: impl Fn(Snapshot) + Send + std::marker::Sync) {
        publish_snapshots::publish_when_facts_change(self.shared, publish).await;
    }
}
