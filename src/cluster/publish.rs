//! Hands Snapshots to the server: after a change, at most ten times a second, and none before everything is known.

use super::{PUBLISH, Shared};
use crate::snapshot::Snapshot;
use std::sync::Arc;

pub(super) async fn forever(
    shared: Arc<Shared>,
    publish: impl Fn(Snapshot) + Send + std::marker::Sync + 'static,
) {
    loop {
        shared.changed.notified().await;
        if !shared.sync.settled() {
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
            Err(error) => tracing::error!(%error, "no Snapshot could be made; the last one stays"),
        }
        tokio::time::sleep(PUBLISH).await;
    }
}
