//! One kind: listed, watched, and listed again when the watch history is lost.

use super::Phase;
use super::list_pages::{Failure, add_object, get, replace_kind_by_list};
use super::lossy_utf8::text;
use super::missing_prerequisites;
use super::pause_after_failure_or_absence::{
    FIRST_PAUSE, MAX_FAILED, longer, pause_until_served, sleep_and_double_pause,
};
use super::watch_lines::{Event, Status, identify};
use super::watch_state::Shared;
use super::watched_kinds::Watched;
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
pub(super) async fn list_and_watch(kind: &'static Watched, client: Client, shared: Arc<Shared>) {
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
                shared.change_builder_and_publish(|builder| builder.set_listed(kind.kind, true));
                set_phase(kind, &shared, Phase::Synced, "");
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
                    // A stream that ends without an event is retried at a slower timings.
                    Ok(false) => sleep_and_double_pause(&mut pause, &shared).await,
                    Err(_) => failed += 1,
                }
                // Only a lost history forces another list; otherwise the watch resumes from its last version.
                let lost = matches!(heard, Err(Failure::Gone | Failure::Absent)) || failed >= MAX_FAILED;
                version = (!lost).then_some(seen);
                heard.map(|_| ())
            }
        };
        let outcome = match outcome {
            // A list has no history to lose: if it expires before its next page, it has failed.
            Err(Failure::Gone) if listing => {
                Err(Failure::Other("410: the list expired before its last page".to_owned()))
            }
            // Core kinds are always installed: the answer is of a proxy, or of an API server that is starting.
            Err(Failure::Absent) if kind.group.is_empty() => Err(Failure::Other("404".to_owned())),
            other => other,
        };
        match outcome {
            Ok(()) => {}
            Err(Failure::Gone) => {
                tracing::info!(kind = kind.name(), "watch history lost; listing all objects again");
                tokio::time::sleep(anew).await;
                anew = longer(anew, &shared);
            }
            Err(Failure::Absent) => {
                shared.record_contact(kind.name());
                // Without its CRD a kind has no objects.
                shared.change_builder_and_publish(|builder| {
                    builder.remove_objects_not_listed(Layer::Live, kind.kind, |_, _| false);
                    builder.set_listed(kind.kind, false);
                });
                shared.metrics.watch_objects(kind.name(), 0);
                set_phase(kind, &shared, Phase::Absent, "CRD not installed");
                pause_until_served(&shared).await;
            }
            Err(Failure::Forbidden(why)) => {
                shared.record_contact(kind.name());
                // Known facts stay, but they no longer prove that an object does not exist.
                shared.change_builder_and_publish(|builder| builder.set_listed(kind.kind, false));
                set_phase(kind, &shared, Phase::Forbidden, &why);
                pause_until_served(&shared).await;
            }
            Err(Failure::Other(why) | Failure::Busy(_, why)) => {
                set_phase(kind, &shared, Phase::Failing, &why);
                sleep_and_double_pause(&mut pause, &shared).await;
            }
        }
    }
}

fn set_phase(kind: &'static Watched, shared: &Shared, phase: Phase, why: &str) {
    shared.metrics.watch_phase(kind.name(), phase);
    let before = shared.sync.settled();
    let changed = shared.sync.set(kind.name(), phase);
    let missing = missing_prerequisites::missing_kind_message(kind, phase);
    shared.sync.set_missing(kind.name(), missing.clone());
    if shared.sync.settled() != before {
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
    kind: &'static Watched,
    client: &Client,
    shared: &Shared,
    version: &mut String,
) -> Result<bool, Failure> {
    let seconds = shared.timings.watch.as_secs().max(1);
    let mut path = format!("{}?watch=true&allowWatchBookmarks=true&timeoutSeconds={seconds}", kind.path());
    path.push_str("&resourceVersion=");
    path.extend(form_urlencoded::byte_serialize(version.as_bytes()));
    let mut body = get(client, &path).await?.into_body();
    shared.record_contact(kind.name());
    // The list that it continues from was complete.
    shared.change_builder_and_publish(|builder| builder.set_listed(kind.kind, true));
    set_phase(kind, shared, Phase::Synced, "");
    let opened = Instant::now();
    let mut heard = false;
    let mut line: Vec<u8> = Vec::new();
    loop {
        let frame = match tokio::time::timeout(shared.timings.watch + SLACK, body.frame()).await {
            Err(_) => {
                return Err(Failure::Other("the API server sent nothing on the watch in time".to_owned()));
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
            return Err(Failure::Other("an event of the watch is too long".to_owned()));
        }
    }
}

/// Applies one line.
fn apply_event_line(
    kind: &'static Watched,
    shared: &Shared,
    line: &[u8],
    version: &mut String,
) -> Result<(), Failure> {
    let text = text(line);
    // If the event is lost, only a list recovers it.
    let event: Event<'_> = serde_json::from_str(&text).map_err(|error| {
        tracing::warn!(
            kind = kind.name(),
            %error,
            "watch event could not be parsed; listing all objects again"
        );
        Failure::Gone
    })?;
    shared.record_contact(kind.name());
    if event.kind == "ERROR" {
        let status: Status = serde_json::from_str(event.object.get()).unwrap_or_default();
        return Err(match status.code {
            410 => Failure::Gone,
            code => Failure::Other(format!("{code}: {}", crate::text::printable(&status.message, 300))),
        });
    }
    let identity = match event.kind {
        "ADDED" | "MODIFIED" => {
            let identity = add_object(kind, shared, event.object);
            if event.kind == "ADDED" && !identity.name.is_empty() {
                shared.metrics.watch_object_added(kind.name(), 1);
            }
            identity
        }
        "DELETED" => {
            let identity = identify(kind, event.object);
            if !identity.name.is_empty() {
                let (namespace, name) = (&identity.namespace, &identity.name);
                shared.change_builder_and_publish(|b| {
                    b.remove(Layer::Live, kind.group, kind.name(), namespace, name)
                });
                shared.metrics.watch_object_added(kind.name(), -1);
            }
            identity
        }
        // A bookmark has only the version; other events are unknown.
        _ => identify(kind, event.object),
    };
    if let Some(seen) = identity.version.filter(|v| !v.is_empty()) {
        *version = seen;
    }
    Ok(())
}
