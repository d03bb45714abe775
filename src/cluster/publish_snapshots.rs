//! Hands Snapshots to the server: after a change, at most ten times a second, and none before everything is known. In a
//! large cluster it rests longer: each change, also of a tenant's object, costs a fold of all facts.

use super::state_shared_by_watches::StateSharedByWatches;
use crate::snapshot::Snapshot;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Least time between two Snapshots.
const PUBLISH: Duration = Duration::from_millis(100);
/// How many times as long as the last fold took it rests, so that folds take at most a twentieth of one core.
const PAUSE_PER_BUILD_TIME: u32 = 20;

/// Longest rest: a change counts within a second.
const LONGEST: Duration = Duration::from_millis(800);

/// Time between two checks of the age of facts.
const LOOK: Duration = Duration::from_secs(1);

pub(super) async fn publish_when_facts_change(
    shared: Arc<StateSharedByWatches>,
    publish: impl Fn(Snapshot) + Send + std::marker::Sync,
) {
    // Changes that an earlier run of this task was about to hand over.
    shared.changed.notify_one();
    loop {
        let changed = tokio::time::timeout(LOOK, shared.changed.notified()).await.is_ok();
        let silent = shared.sync.kinds_without_contact_for(shared.timings.stale_after);
        let aged = shared.with_builder_unpublished(|builder| builder.set_stale(silent));
        if !shared.sync.has_every_kind_settled() || !(changed || aged) {
            continue;
        }
        let making = Arc::clone(&shared);
        // Folding a large cluster takes milliseconds, which would hold up requests on this thread.
        let build = move || {
            let started = Instant::now();
            let snapshot = making.with_builder_unpublished(crate::snapshot::Builder::build);
            (snapshot, started.elapsed())
        };
        let took = match tokio::task::spawn_blocking(build).await {
            Ok((snapshot, took)) => {
                shared.metrics.replace_ignored_object_counts(snapshot.ignored_objects_by_kind());
                publish(snapshot);
                shared.sync.mark_published();
                shared.metrics.count_published_snapshot();
                took
            }
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The runtime ends.
                Err(_) => return,
            },
        };
        tokio::time::sleep(pause_after_build(took)).await;
    }
}

/// Time until the next Snapshot, after one that took so long.
fn pause_after_build(took: Duration) -> Duration {
    PUBLISH.max((took * PAUSE_PER_BUILD_TIME).min(LONGEST))
}

#[cfg(test)]
mod tests {
    use super::super::{Metrics, SyncStateOfKinds, WatchTimings};
    use super::*;
    use crate::snapshot::Builder;
    use std::sync::Mutex;

    #[test]
    fn the_rest_grows_with_the_cost_of_a_fold() {
        let rests = [1, 5, 40, 5_000].map(|took| pause_after_build(Duration::from_millis(took)).as_millis());
        assert_eq!(rests, [100, 100, 800, 800]);
    }

    #[tokio::test]
    async fn a_second_run_hands_over_what_the_first_one_lost() {
        let shared = Arc::new(StateSharedByWatches {
            builder: Mutex::new(Builder::default()),
            changed: tokio::sync::Notify::new(),
            sync: SyncStateOfKinds::default(),
            metrics: Arc::new(Metrics::default()),
            timings: WatchTimings::default(),
        });
        shared.changed.notify_one();
        let mut first = tokio::task::JoinSet::new();
        first.spawn(publish_when_facts_change(Arc::clone(&shared), |_| panic!("a bug")));
        assert!(first.join_next().await.unwrap().unwrap_err().is_panic());
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
        first.spawn(publish_when_facts_change(shared, move |_| sender.send(()).unwrap()));
        // Sooner than the next look at how old facts are.
        assert!(tokio::time::timeout(LOOK / 2, receiver.recv()).await.unwrap().is_some());
    }
}
