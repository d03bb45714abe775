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
pub mod api_discovery_of_served_kinds;
mod api_server_version;
mod call_deadline_and_failure_text;
pub mod create_pod_as_dry_run;
mod default_watch_pauses_and_timeouts;
mod json_of_watch_events_and_pages;
mod leader_lease;
pub mod list_any_kind;
mod list_watched_kind_into_builder;
mod lossy_utf8;
mod metrics_of_watches_and_statuses;
pub mod missing_prerequisites;
mod packed_names_of_listed_objects;
mod page_size;
mod pause_after_failure_or_absence;
mod publish_snapshots;
mod read_cluster_once_for_commands;
pub mod reads_for_installation_check;
pub mod secret_and_webhook_configurations;
mod state_shared_by_watches;
mod sync_state_of_watched_kinds;
mod watch_one_kind;
pub mod watched_kinds;
pub mod write_profile_status;

pub use call_deadline_and_failure_text::CallFault;
pub use default_watch_pauses_and_timeouts::WatchTimings;
pub use metrics_of_watches_and_statuses::Metrics;
pub use page_size::PageSize;
pub use read_cluster_once_for_commands::{
    ClusterRead, UnreadKind, read_all_despite_failures, read_all_or_fail, read_pod_as_json, read_wanted_kinds,
};
pub use sync_state_of_watched_kinds::{Phase, SyncStateOfKinds};

use crate::snapshot::{Builder, Snapshot};
use state_shared_by_watches::StateSharedByWatches;
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// The watches of a cluster, as futures that never end by themselves. After a panic the caller starts the future again,
/// and it lists its kind again. Cheap to clone.
#[derive(Clone)]
pub struct Watches {
    client: kube::Client,
    shared: Arc<StateSharedByWatches>,
}

impl Watches {
    /// The watches of this client's cluster; `builder` has the facts that are known already.
    #[must_use]
    pub fn new(
        client: kube::Client,
        builder: Builder,
        timings: WatchTimings,
        sync: SyncStateOfKinds,
        metrics: Arc<Metrics>,
    ) -> Self {
        let changed = Notify::new();
        let shared =
            Arc::new(StateSharedByWatches { builder: Mutex::new(builder), changed, sync, metrics, timings });
        Self { client, shared }
    }

    /// Lists and watches a kind.
    pub async fn list_and_watch_kind(self, kind: &'static watched_kinds::WatchedKind) {
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
