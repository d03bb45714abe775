//! One read of the watched kinds into a builder, for commands that do not watch. `list_any_kind` lists other kinds.

use super::call_deadline::{LIST_OR_WATCH, late, reason};
use super::list_pages::{Failure, get, replace_kind_by_list};
use super::lossy_utf8::text;
use super::watch_state::Shared;
use super::which_kinds_are_served_for_commands::Served;
use super::{Metrics, Phases, WatchTimings, watched_kinds};
use crate::snapshot::Builder;
use http_body_util::BodyExt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// The result of one read, kind by kind.
#[derive(Debug)]
pub struct Seen {
    /// The facts that were known before, and those of the cluster.
    pub builder: Builder,
    /// Kinds that may not be read, with the API server's reason. Their objects are unknown.
    pub forbidden: Vec<(&'static str, String)>,
    /// Kinds whose list failed for another reason. What was read of them before the failure is in the builder.
    pub failed: Vec<OnceError>,
}

impl Seen {
    /// Forgets the refusals of kinds that the cluster does not have. The API server authorizes before it looks for the
    /// resource (k8s.io/apiserver pkg/server/config.go, `DefaultBuildHandlerChain`), so it answers 403 and not 404.
    pub fn drop_forbidden_kinds_not_served(&mut self, served: &Served) {
        let exists =
            |name: &str| watched_kinds::WATCHED.iter().any(|w| w.name() == name && served.has(w.group, name));
        self.forbidden.retain(|(kind, _)| exists(kind));
    }
}

/// Why the cluster cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{kind}: {why}")]
pub struct OnceError {
    /// The kind.
    pub kind: &'static str,
    /// The reason.
    pub why: String,
}

/// A running pod as JSON.
///
/// # Errors
/// [`OnceError`] when it does not exist or may not be read.
pub async fn pod(client: &kube::Client, namespace: &str, name: &str) -> Result<String, OnceError> {
    let path = format!("/api/v1/namespaces/{namespace}/pods/{name}");
    let failed = |failure| OnceError {
        kind: "Pod",
        why: match failure {
            Failure::Absent => format!("pod {namespace}/{name} does not exist"),
            Failure::Forbidden(why) | Failure::Other(why) | Failure::Busy(_, why) => why,
            Failure::Gone => "the API server answered 410 Gone".to_owned(),
        },
    };
    let body =
        tokio::time::timeout(LIST_OR_WATCH, get(client, &path).await.map_err(failed)?.into_body().collect());
    let bytes = match body.await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(error)) => return Err(failed(Failure::Other(reason(&error)))),
        Err(_) => return Err(failed(Failure::Other(late(LIST_OR_WATCH)))),
    };
    Ok(text(&bytes).into_owned())
}

/// Lists that are begun for one kind, each after the pause that the API server asks for.
const MOST_LISTS: usize = 5;

/// Lists a kind, and again where the API server was busy or the list expired. What was read stays: objects are known by
/// their names.
async fn list_again_if_busy_or_expired(
    kind: &'static watched_kinds::Watched,
    client: &kube::Client,
    shared: &Shared,
) -> Result<String, Failure> {
    for _ in 1..MOST_LISTS {
        match replace_kind_by_list(kind, client, shared).await {
            Err(Failure::Busy(seconds, _)) => tokio::time::sleep(Duration::from_secs(seconds)).await,
            Err(Failure::Gone) => {}
            other => return other,
        }
    }
    replace_kind_by_list(kind, client, shared).await
}

/// Lists every kind into a builder. Kinds that are not installed have no objects.
///
/// # Errors
/// [`OnceError`] for the first kind whose list fails for another reason than that it may not be read.
pub async fn read_all_or_fail(client: &kube::Client, builder: Builder) -> Result<Seen, OnceError> {
    let mut seen = Box::pin(read(client, builder, WatchTimings::ONCE, true, &|_| true)).await;
    if seen.failed.is_empty() { Ok(seen) } else { Err(seen.failed.swap_remove(0)) }
}

/// Lists every kind into a builder, also those after one whose list fails.
pub async fn read_all_despite_failures(
    client: &kube::Client,
    builder: Builder,
    timings: WatchTimings,
) -> Seen {
    Box::pin(read(client, builder, timings, false, &|_| true)).await
}

/// Lists the wanted kinds into a builder; those of other kinds stay in it.
pub async fn read_wanted_kinds(
    client: &kube::Client,
    builder: Builder,
    wanted: &dyn Fn(&watched_kinds::Watched) -> bool,
) -> Seen {
    Box::pin(read(client, builder, WatchTimings::ONCE, false, wanted)).await
}

async fn read(
    client: &kube::Client,
    builder: Builder,
    timings: WatchTimings,
    stop: bool,
    wanted: &dyn Fn(&watched_kinds::Watched) -> bool,
) -> Seen {
    let shared = Shared {
        builder: Mutex::new(builder),
        changed: Notify::new(),
        sync: Phases::default(),
        metrics: Arc::new(Metrics::default()),
        timings,
    };
    let (mut forbidden, mut failed) = (Vec::new(), Vec::new());
    for kind in watched_kinds::WATCHED.iter().filter(|kind| wanted(kind)) {
        match list_again_if_busy_or_expired(kind, client, &shared).await {
            Ok(_) => {
                shared.with_builder_unpublished(|builder| builder.set_listed(kind.kind, true));
            }
            Err(Failure::Absent) => {}
            Err(Failure::Forbidden(why)) => forbidden.push((kind.name(), why)),
            Err(Failure::Gone) => failed.push(OnceError {
                kind: kind.name(),
                why: "the list expired on the API server before its last page".into(),
            }),
            Err(Failure::Other(why) | Failure::Busy(_, why)) => {
                failed.push(OnceError { kind: kind.name(), why });
            }
        }
        if stop && !failed.is_empty() {
            break;
        }
    }
    let builder = shared.builder.into_inner().unwrap_or_else(PoisonError::into_inner);
    Seen { builder, forbidden, failed }
}
