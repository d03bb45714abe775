//! One read of the watched kinds into a builder, for commands that do not watch. `list_any_kind` lists other kinds.

use super::api_discovery_of_served_kinds::ServedKinds;
use super::call_deadline_and_failure_text::{
    DEADLINE_OF_LIST_OR_WATCH, no_response_message, text_of_failed_call,
};
use super::list_watched_kind_into_builder::{ListOrWatchFailure, get, replace_kind_by_list};
use super::lossy_utf8::text_with_replaced_bytes;
use super::state_shared_by_watches::StateSharedByWatches;
use super::{Metrics, SyncStateOfKinds, WatchTimings, watched_kinds};
use crate::snapshot::Builder;
use http_body_util::BodyExt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// The result of one read, kind by kind.
#[derive(Debug)]
pub struct ClusterRead {
    /// The facts that were known before, and those of the cluster.
    pub builder: Builder,
    /// Kinds that may not be read, with the API server's reason. Their objects are unknown.
    pub forbidden: Vec<(&'static str, String)>,
    /// Kinds whose list failed for another reason. What was read of them before the failure is in the builder.
    pub failed: Vec<UnreadKind>,
}

impl ClusterRead {
    /// Forgets the refusals of kinds that the cluster does not have. The API server authorizes before it looks for the
    /// resource (k8s.io/apiserver pkg/server/config.go, `DefaultBuildHandlerChain`), so it answers 403 and not 404.
    pub fn drop_forbidden_kinds_not_served(&mut self, served: &ServedKinds) {
        let exists =
            |name: &str| watched_kinds::WATCHED.iter().any(|w| w.name() == name && served.has(w.group, name));
        self.forbidden.retain(|(kind, _)| exists(kind));
    }
}

/// Why the cluster cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{kind}: {why}")]
pub struct UnreadKind {
    /// The kind.
    pub kind: &'static str,
    /// The reason.
    pub why: String,
}

/// A running pod as JSON.
///
/// # Errors
/// [`UnreadKind`] when it does not exist or may not be read.
pub async fn read_pod_as_json(
    client: &kube::Client,
    namespace: &str,
    name: &str,
) -> Result<String, UnreadKind> {
    let path = format!("/api/v1/namespaces/{namespace}/pods/{name}");
    let failed = |failure| UnreadKind {
        kind: "Pod",
        why: match failure {
            ListOrWatchFailure::Absent => format!("pod {namespace}/{name} does not exist"),
            ListOrWatchFailure::Forbidden(why)
            | ListOrWatchFailure::Other(why)
            | ListOrWatchFailure::Busy(_, why) => why,
            ListOrWatchFailure::Gone => "the API server answered 410 Gone".to_owned(),
        },
    };
    let body = tokio::time::timeout(
        DEADLINE_OF_LIST_OR_WATCH,
        get(client, &path).await.map_err(failed)?.into_body().collect(),
    );
    let bytes = match body.await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(error)) => return Err(failed(ListOrWatchFailure::Other(text_of_failed_call(&error)))),
        Err(_) => {
            return Err(failed(ListOrWatchFailure::Other(no_response_message(DEADLINE_OF_LIST_OR_WATCH))));
        }
    };
    Ok(text_with_replaced_bytes(&bytes).into_owned())
}

/// Lists that are begun for one kind, each after the pause that the API server asks for.
const MOST_LISTS: usize = 5;

/// Lists a kind, and again where the API server was busy or the list expired. What was read stays: objects are known by
/// their names.
async fn list_again_if_busy_or_expired(
    kind: &'static watched_kinds::WatchedKind,
    client: &kube::Client,
    shared: &StateSharedByWatches,
) -> Result<String, ListOrWatchFailure> {
    for _ in 1..MOST_LISTS {
        match replace_kind_by_list(kind, client, shared).await {
            Err(ListOrWatchFailure::Busy(seconds, _)) => {
                tokio::time::sleep(Duration::from_secs(seconds)).await
            }
            Err(ListOrWatchFailure::Gone) => {}
            other => return other,
        }
    }
    replace_kind_by_list(kind, client, shared).await
}

/// Lists every kind into a builder. Kinds that are not installed have no objects.
///
/// # Errors
/// [`UnreadKind`] for the first kind whose list fails for another reason than that it may not be read.
pub async fn read_all_or_fail(client: &kube::Client, builder: Builder) -> Result<ClusterRead, UnreadKind> {
    let mut seen = Box::pin(read(client, builder, WatchTimings::ONCE, true, &|_| true)).await;
    if seen.failed.is_empty() { Ok(seen) } else { Err(seen.failed.swap_remove(0)) }
}

/// Lists every kind into a builder, also those after one whose list fails.
pub async fn read_all_despite_failures(
    client: &kube::Client,
    builder: Builder,
    timings: WatchTimings,
) -> ClusterRead {
    Box::pin(read(client, builder, timings, false, &|_| true)).await
}

/// Lists the wanted kinds into a builder; those of other kinds stay in it.
pub async fn read_wanted_kinds(
    client: &kube::Client,
    builder: Builder,
    wanted: &dyn Fn(&watched_kinds::WatchedKind) -> bool,
) -> ClusterRead {
    Box::pin(read(client, builder, WatchTimings::ONCE, false, wanted)).await
}

async fn read(
    client: &kube::Client,
    builder: Builder,
    timings: WatchTimings,
    stop: bool,
    wanted: &dyn Fn(&watched_kinds::WatchedKind) -> bool,
) -> ClusterRead {
    let shared = StateSharedByWatches {
        builder: Mutex::new(builder),
        changed: Notify::new(),
        sync: SyncStateOfKinds::default(),
        metrics: Arc::new(Metrics::default()),
        timings,
    };
    let (mut forbidden, mut failed) = (Vec::new(), Vec::new());
    for kind in watched_kinds::WATCHED.iter().filter(|kind| wanted(kind)) {
        match list_again_if_busy_or_expired(kind, client, &shared).await {
            Ok(_) => {
                shared.with_builder_unpublished(|builder| builder.set_listed(kind.kind, true));
            }
            Err(ListOrWatchFailure::Absent) => {}
            Err(ListOrWatchFailure::Forbidden(why)) => forbidden.push((kind.name(), why)),
            Err(ListOrWatchFailure::Gone) => failed.push(UnreadKind {
                kind: kind.name(),
                why: "the list expired on the API server before its last page".into(),
            }),
            Err(ListOrWatchFailure::Other(why) | ListOrWatchFailure::Busy(_, why)) => {
                failed.push(UnreadKind { kind: kind.name(), why });
            }
        }
        if stop && !failed.is_empty() {
            break;
        }
    }
    let builder = shared.builder.into_inner().unwrap_or_else(PoisonError::into_inner);
    ClusterRead { builder, forbidden, failed }
}
