//! One kind: listed, watched, and listed again when the watch history is lost.

use super::Phase;
use super::json_of_watch_events_and_pages::{Status, WatchEvent, read_identity_of_object};
use super::list_watched_kind_into_builder::{
    ListOrWatchFailure, add_object_and_request_snapshot_or_count_failure, get, replace_kind_by_list,
};
use super::lossy_utf8::text_with_replaced_bytes;
use super::missing_prerequisites;
use super::pause_after_failure_or_absence::{
    FAILED_WATCHES_BEFORE_LIST, FIRST_PAUSE, double_pause_within_bounds, sleep_and_double_pause,
    sleep_before_asking_again,
};
use super::state_shared_by_watches::StateSharedByWatches;
use super::watched_kinds::WatchedKind;
use crate::snapshot::Layer;
use http_body_util::BodyExt;
use kube::Client;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longest line of a watch (bytes). An object has at most 3 MiB in requests (k8s.io/apiserver), and grows little.
const MAX_LINE: usize = 16 << 20;
/// Beyond the server's own limit of a watch, a stream that is silent is dead.
const SLACK: Duration = Duration::from_secs(10);
/// A stream that was open for this long did not fail, even if nothing happened on it.
const STEADY: Duration = Duration::from_secs(5);

/// Keeps a kind up to date until the task is dropped.
pub(super) async fn list_and_watch(
    kind: &'static WatchedKind,
    client: Client,
    shared: Arc<StateSharedByWatches>,
) {
    let mut version: Option<String> = None;
    let mut pause = FIRST_PAUSE;
    // Watches in a row that failed from one version; after some the history counts as lost.
    let mut failed = 0;
    // Pause before the next list after a lost history: none, unless the last such list did not help.
    let mut anew = Duration::ZERO;
    loop {
        let listing = version.is_none();
        let outcome = match version.take() {
            None => replace_kind_by_list(kind, &client, &shared).await.map(|listed| {
                shared.change_builder_and_request_snapshot(|builder| builder.set_listed(kind.kind, true));
                record_phase_log_and_notify(kind, &shared, Phase::Synced, "");
                failed = 0;
                version = Some(listed);
            }),
            Some(from) => {
                let mut seen = from;
                let heard = watch_until_stream_ends(kind, &client, &shared, &mut seen).await;
                match &heard {
                    Ok(true) => {
                        (pause, failed) = (FIRST_PAUSE, 0);
                        anew = Duration::ZERO;
                    }
                    // A stream that ends without an event is retried more slowly.
                    Ok(false) => sleep_and_double_pause(&mut pause, &shared).await,
                    Err(_) => failed += 1,
                }
                // Only a lost history forces another list; otherwise the watch resumes from its last version.
                let lost = matches!(heard, Err(ListOrWatchFailure::Gone | ListOrWatchFailure::Absent))
                    || failed >= FAILED_WATCHES_BEFORE_LIST;
                version = (!lost).then_some(seen);
                heard.map(|_| ())
            }
        };
        let outcome = match outcome {
            // A list has no history to lose: if it expires before its next page, it has failed.
            Err(ListOrWatchFailure::Gone) if listing => {
                Err(ListOrWatchFailure::Other("410: the list expired before its last page".to_owned()))
            }
            // Core kinds are always installed: the answer is of a proxy, or of an API server that is starting.
            Err(ListOrWatchFailure::Absent) if kind.group.is_empty() => {
                Err(ListOrWatchFailure::Other("404".to_owned()))
            }
            other => other,
        };
        match outcome {
            Ok(()) => {}
            Err(ListOrWatchFailure::Gone) => {
                tracing::info!(kind = kind.name(), "watch history lost; listing all objects again");
                tokio::time::sleep(anew).await;
                anew = double_pause_within_bounds(anew, &shared);
            }
            Err(ListOrWatchFailure::Absent) => {
                shared.record_contact(kind.name());
                // Without its CRD a kind has no objects.
                shared.change_builder_and_request_snapshot(|builder| {
                    builder.finish_list_and_remove_unlisted_objects(Layer::Live, kind.kind, |_, _| false);
                    builder.set_listed(kind.kind, false);
                });
                shared.metrics.set_object_count(kind.name(), 0);
                record_phase_log_and_notify(kind, &shared, Phase::Absent, "CRD not installed");
                sleep_before_asking_again(&shared).await;
            }
            Err(ListOrWatchFailure::Forbidden(why)) => {
                shared.record_contact(kind.name());
                // Known facts stay, but they no longer prove that an object does not exist.
                shared.change_builder_and_request_snapshot(|builder| builder.set_listed(kind.kind, false));
                record_phase_log_and_notify(kind, &shared, Phase::Forbidden, &why);
                sleep_before_asking_again(&shared).await;
            }
            Err(ListOrWatchFailure::Other(why) | ListOrWatchFailure::Busy(_, why)) => {
                record_phase_log_and_notify(kind, &shared, Phase::Failing, &why);
                sleep_and_double_pause(&mut pause, &shared).await;
            }
        }
    }
}

fn record_phase_log_and_notify(
    kind: &'static WatchedKind,
    shared: &StateSharedByWatches,
    phase: Phase,
    why: &str,
) {
    shared.metrics.set_watch_phase(kind.name(), phase);
    let before = shared.sync.has_every_kind_settled();
    let changed = shared.sync.record_phase_and_settle_kind(kind.name(), phase);
    let missing = missing_prerequisites::missing_kind_message(kind, phase);
    shared.sync.set_missing(kind.name(), missing.clone());
    if shared.sync.has_every_kind_settled() != before {
        shared.changed.notify_one();
    }
    if changed {
        match (phase, missing) {
            (Phase::Failing, _) => {
                tracing::warn!(kind = kind.name(), why, "watch failed; known facts stay in use")
            }
            (_, Some(missing)) => tracing::warn!(kind = kind.name(), why, "{missing}"),
            _ => tracing::info!(kind = kind.name(), phase = phase.name(), why, "watch state changed"),
        }
        shared.changed.notify_one();
    }
}

/// Watches from `version` until the stream ends, which `version` is then at. Whether anything was heard, or the stream
/// was open for a while.
async fn watch_until_stream_ends(
    kind: &'static WatchedKind,
    client: &Client,
    shared: &StateSharedByWatches,
    version: &mut String,
) -> Result<bool, ListOrWatchFailure> {
    let seconds = shared.timings.watch.as_secs().max(1);
    let mut path = format!("{}?watch=true&allowWatchBookmarks=true&timeoutSeconds={seconds}", kind.path());
    path.push_str("&resourceVersion=");
    path.extend(form_urlencoded::byte_serialize(version.as_bytes()));
    let mut body = get(client, &path).await?.into_body();
    shared.record_contact(kind.name());
    // The list that it continues from was complete.
    shared.change_builder_and_request_snapshot(|builder| builder.set_listed(kind.kind, true));
    record_phase_log_and_notify(kind, shared, Phase::Synced, "");
    let opened = Instant::now();
    let mut heard = false;
    let mut line: Vec<u8> = Vec::new();
    loop {
        let frame = match tokio::time::timeout(shared.timings.watch + SLACK, body.frame()).await {
            Err(_) => {
                return Err(ListOrWatchFailure::Other(
                    "the API server sent nothing on the watch in time".to_owned(),
                ));
            }
            Ok(None) => return Ok(heard || opened.elapsed() >= STEADY),
            Ok(Some(Err(error))) => {
                tracing::debug!(kind = kind.name(), %error, "watch interrupted");
                return Ok(heard || opened.elapsed() >= STEADY);
            }
            Ok(Some(Ok(frame))) => frame,
        };
        let Ok(data) = frame.into_data() else { continue };
        let mut rest = data.as_ref();
        while let Some(end) = rest.iter().position(|b| *b == b'\n') {
            let (head, tail) = rest.split_at(end);
            line.extend_from_slice(head);
            rest = tail.get(1..).unwrap_or_default();
            if !line.iter().all(u8::is_ascii_whitespace) {
                apply_event_line(kind, shared, &line, version)?;
                heard = true;
            }
            line.clear();
            // A large object is not kept as capacity.
            if line.capacity() > 1 << 20 {
                line = Vec::new();
            }
        }
        line.extend_from_slice(rest);
        if line.len() > MAX_LINE {
            return Err(ListOrWatchFailure::Other("an event of the watch is too long".to_owned()));
        }
    }
}

/// Applies one line.
fn apply_event_line(
    kind: &'static WatchedKind,
    shared: &StateSharedByWatches,
    line: &[u8],
    version: &mut String,
) -> Result<(), ListOrWatchFailure> {
    let text = text_with_replaced_bytes(line);
    // If the event is lost, only a list recovers it.
    let event: WatchEvent<'_> = serde_json::from_str(&text).map_err(|error| {
        tracing::warn!(
            kind = kind.name(),
            %error,
            "watch event could not be parsed; listing all objects again"
        );
        ListOrWatchFailure::Gone
    })?;
    shared.record_contact(kind.name());
    if event.kind == "ERROR" {
        let status: Status = serde_json::from_str(event.object.get()).unwrap_or_default();
        return Err(match status.code {
            410 => ListOrWatchFailure::Gone,
            code => ListOrWatchFailure::Other(format!(
                "{code}: {}",
                crate::text::escaped_and_cut(&status.message, 300)
            )),
        });
    }
    let identity = match event.kind {
        "ADDED" | "MODIFIED" => {
            let identity = add_object_and_request_snapshot_or_count_failure(kind, shared, event.object);
            if event.kind == "ADDED" && !identity.name.is_empty() {
                shared.metrics.change_object_count_by(kind.name(), 1);
            }
            identity
        }
        "DELETED" => {
            let identity = read_identity_of_object(kind, event.object);
            if !identity.name.is_empty() {
                let (namespace, name) = (&identity.namespace, &identity.name);
                shared.change_builder_and_request_snapshot(|b| {
                    b.remove(Layer::Live, kind.group, kind.name(), namespace, name)
                });
                shared.metrics.change_object_count_by(kind.name(), -1);
            }
            identity
        }
        // A bookmark has only the version; other events are unknown.
        _ => read_identity_of_object(kind, event.object),
    };
    if let Some(seen) = identity.version.filter(|v| !v.is_empty()) {
        *version = seen;
    }
    Ok(())
}
