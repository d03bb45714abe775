//! Hands Snapshots to the server: after a change, at most ten times a second, and none before everything is known.

use super::shared::{PUBLISH, Shared};
use crate::snapshot::Snapshot;
use std::sync::Arc;
use std::time::Duration;

/// Time between two looks at how old everything is.
const LOOK: Duration = Duration::from_secs(1);

pub(super) async fn forever(
    shared: Arc<Shared>,
    publish: impl Fn(Snapshot) + Send + std::marker::Sync + 'static,
) {
    loop {
        let changed = tokio::time::timeout(LOOK, shared.changed.notified()).await.is_ok();
        let silent = shared.sync.silent(shared.pace.stale);
        let aged = shared.with(|builder| builder.stale(silent));
        if !shared.sync.settled() || !(changed || aged) {
            continue;
        }
        let making = Arc::clone(&shared);
        // Folding a large cluster takes milliseconds, which would hold up requests on this thread.
        match tokio::task::spawn_blocking(move || making.with(crate::snapshot::Builder::build)).await {
            Ok(snapshot) => {
                publish(snapshot);
                shared.sync.published();
                shared.metrics.snapshot_published();
            }
            Err(error) => tracing::error!(%error, "building a Snapshot failed; keeping the previous one"),
        }
        tokio::time::sleep(PUBLISH).await;
    }
}
