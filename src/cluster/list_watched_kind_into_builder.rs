//! A list in pages. Never a list from resource version 0: it ignores the limit, and the answer is one piece
//! (kubernetes/kubernetes staging/src/k8s.io/apiserver/pkg/storage/cacher), which at 130,000 nodes is gigabytes.

use super::call_deadline_and_failure_text::{
    DEADLINE_OF_LIST_OR_WATCH, no_response_message, text_of_failed_call,
};
use super::default_watch_pauses_and_timeouts::WatchTimings;
use super::json_of_watch_events_and_pages::{Page, Status, read_identity_of_object};
use super::lossy_utf8::text_with_replaced_bytes;
use super::packed_names_of_listed_objects::PackedNames;
use super::page_size::PageSize;
use super::pause_after_failure_or_absence::MAX_RETRY_AFTER;
use super::state_shared_by_watches::StateSharedByWatches;
use super::watched_kinds::WatchedKind;
use crate::facts::FactKind;
use crate::snapshot::{FactError, Identity, Layer};
use crate::text::escaped_and_cut;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use kube::Client;
use kube::client::Body;
use serde_json::value::RawValue;
use std::time::Duration;

/// Objects of a page. A node is about 34 kB, and a page of them is in memory as a whole.
fn limit(kind: &WatchedKind) -> usize {
    if kind.kind == FactKind::Node { 100 } else { 500 }
}

/// Most bytes of a page. If objects have megabytes each, the next request asks for fewer.
const MAX_PAGE: usize = 16 << 20;

/// Why a list or a watch ended.
#[derive(Debug)]
pub(super) enum ListOrWatchFailure {
    /// The kind is not served (404).
    Absent,
    /// It may not be read (403).
    Forbidden(String),
    /// The state that was asked for is gone (410): list again.
    Gone,
    /// The API server is busy (429, or 503 with a time to wait): ask again after so many seconds.
    Busy(u64, String),
    /// Anything else; it may be temporary.
    Other(String),
}

impl ListOrWatchFailure {
    /// A failure by its HTTP code. A refused token (401) proves nothing about rights, and is temporary.
    fn of(code: u16, message: &str) -> Self {
        match code {
            404 => Self::Absent,
            403 => Self::Forbidden(message.to_owned()),
            410 => Self::Gone,
            _ => Self::Other(format!("{code}: {message}")),
        }
    }

    /// The same with the answer's header `Retry-After` (seconds).
    fn with_pause(code: u16, message: &str, pause: Option<u64>) -> Self {
        match (code, pause) {
            (429, _) | (503, Some(_)) => {
                Self::Busy(pause.unwrap_or(1).clamp(1, MAX_RETRY_AFTER), format!("{code}: {message}"))
            }
            _ => Self::of(code, message),
        }
    }
}

/// Requests an uncompressed answer: compression costs more CPU than the network saves. kube's feature `gzip` would request
/// it; deny.toml keeps that out.
pub(super) const UNCOMPRESSED_HEADER: (http::HeaderName, http::HeaderValue) =
    (http::header::ACCEPT_ENCODING, http::HeaderValue::from_static("identity"));

/// What answers are asked for as.
pub(super) const JSON: &str = "application/json";

/// Sends a GET and waits for its headers.
pub(super) async fn get(client: &Client, path: &str) -> Result<http::Response<Body>, ListOrWatchFailure> {
    get_in_form(client, path, JSON, DEADLINE_OF_LIST_OR_WATCH).await
}

/// The same for another form of the answer.
pub(super) async fn get_in_form(
    client: &Client,
    path: &str,
    accept: &'static str,
    deadline: Duration,
) -> Result<http::Response<Body>, ListOrWatchFailure> {
    let request = http::Request::get(path)
        .header(http::header::ACCEPT, accept)
        .header(UNCOMPRESSED_HEADER.0, UNCOMPRESSED_HEADER.1)
        .body(Body::empty())
        .map_err(|e| ListOrWatchFailure::Other(e.to_string()))?;
    let response = match tokio::time::timeout(deadline, client.send(request)).await {
        Err(_) => return Err(ListOrWatchFailure::Other(no_response_message(deadline))),
        Ok(Err(kube::Error::Api(status))) => {
            return Err(ListOrWatchFailure::of(status.code, &status.message));
        }
        Ok(Err(error)) => return Err(ListOrWatchFailure::Other(text_of_failed_call(&error))),
        Ok(Ok(response)) => response,
    };
    let code = response.status().as_u16();
    if response.status().is_success() {
        return Ok(response);
    }
    let pause = response.headers().get(http::header::RETRY_AFTER).and_then(|v| v.to_str().ok());
    let pause = pause.and_then(|seconds| seconds.trim().parse().ok());
    let text = tokio::time::timeout(deadline, response.into_body().collect()).await;
    let bytes = text.ok().and_then(Result::ok).map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let status: Status = serde_json::from_slice(&bytes).unwrap_or_default();
    Err(ListOrWatchFailure::with_pause(code, &crate::text::escaped_and_cut(&status.message, 300), pause))
}

/// Lists a kind into the builder and removes objects that are not in the list. Returns the resource version to watch from.
pub(super) async fn replace_kind_by_list(
    kind: &'static WatchedKind,
    client: &Client,
    shared: &StateSharedByWatches,
) -> Result<String, ListOrWatchFailure> {
    let mut listed = PackedNames::default();
    let mut next: Option<String> = None;
    let WatchTimings { request, pages, .. } = shared.timings;
    let most = limit(kind);
    let mut limit = pages.map_or(most, |pages| pages.most.min(PageSize::FIRST));
    loop {
        let mut path = format!("{}?limit={limit}", kind.path());
        if let Some(token) = &next {
            path.push_str("&continue=");
            path.extend(form_urlencoded::byte_serialize(token.as_bytes()));
        }
        let response = get_in_form(client, &path, JSON, request).await?;
        let body = Limited::new(response.into_body(), MAX_PAGE).collect();
        let bytes = match tokio::time::timeout(request, body).await {
            Err(_) => {
                return Err(ListOrWatchFailure::Other(format!(
                    "the response to the list request did not end within {} s",
                    request.as_secs()
                )));
            }
            // The same page in parts; a continue token is valid with any limit.
            Ok(Err(error)) if error.is::<LengthLimitError>() && limit > 1 => {
                limit = (limit / 4).max(1);
                continue;
            }
            Ok(Err(error)) => {
                return Err(ListOrWatchFailure::Other(format!(
                    "the response to the list request was interrupted: {}",
                    text_of_failed_call(&*error)
                )));
            }
            Ok(Ok(body)) => body.to_bytes(),
        };
        let text = text_with_replaced_bytes(&bytes);
        let page: Page<'_> = serde_json::from_str(&text)
            .map_err(|error| ListOrWatchFailure::Other(format!("the list could not be parsed: {error}")))?;
        for object in page.items.iter().flatten() {
            let Identity { namespace, name, .. } =
                add_object_and_request_snapshot_or_count_failure(kind, shared, object);
            if !name.is_empty() {
                listed.add(&namespace, &name);
            }
        }
        match pages {
            Some(size) => {
                limit = size.next(bytes.len(), page.items.iter().flatten().count()).unwrap_or(limit);
            }
            // Behind a few large objects pages become as long as before: otherwise three objects of a tenant would make a
            // request of each object of the cluster.
            None if bytes.len() < MAX_PAGE / 4 => limit = (limit * 2).min(most),
            None => {}
        }
        next = page.metadata.next.filter(|token| !token.is_empty());
        if next.is_none() {
            let version = page.metadata.resource_version.filter(|v| !v.is_empty());
            let version = version
                .ok_or_else(|| ListOrWatchFailure::Other("the list has no resourceVersion".to_owned()))?;
            // Not for each page: the facts of a list that never ends grow old.
            shared.record_contact(kind.name());
            shared.metrics.count_complete_list(kind.name());
            shared.metrics.set_object_count(kind.name(), listed.len());
            let kept = listed.into_membership_test();
            shared.change_builder_and_request_snapshot(|builder| {
                builder.finish_list_and_remove_unlisted_objects(Layer::Live, kind.kind, kept)
            });
            return Ok(version);
        }
    }
}

/// Adds an object to the builder. Returns its identity, with an empty name if even that is malformed. An unreadable object
/// is counted, and its previous facts stay. One that its namespace has no room for is counted too, and has no facts.
pub(super) fn add_object_and_request_snapshot_or_count_failure(
    kind: &'static WatchedKind,
    shared: &StateSharedByWatches,
    object: &RawValue,
) -> Identity {
    let added = shared.change_builder_and_request_snapshot(|b| {
        b.add_identified(Layer::Live, kind.group, kind.name(), object.get(), "default")
    });
    match added {
        Ok(Some(identity)) => identity,
        Ok(None) => read_identity_of_object(kind, object),
        Err(error) => {
            let identity = read_identity_of_object(kind, object);
            match error {
                FactError::Full { .. } => report_object_not_stored(kind, shared, &identity, &error),
                FactError::Decode { .. } | FactError::Profile(_) => {
                    report_unreadable_object(kind, shared, &identity, &error)
                }
            }
            identity
        }
    }
}

fn report_object_not_stored(
    kind: &'static WatchedKind,
    shared: &StateSharedByWatches,
    identity: &Identity,
    error: &FactError,
) {
    shared.metrics.count_object_not_kept(kind.name());
    let (namespace, name) = (identity.namespace.as_str(), identity.name.as_str());
    tracing::warn!(kind = kind.name(), namespace, name, %error, "an object is not kept, because the objects of its namespace use too much of the server's memory; the server treats the object as unknown");
}

fn report_unreadable_object(
    kind: &'static WatchedKind,
    shared: &StateSharedByWatches,
    identity: &Identity,
    error: &FactError,
) {
    shared.metrics.count_unreadable_object(kind.name());
    let (namespace, name) = (identity.namespace.as_str(), identity.name.as_str());
    // Keys of the object are texts of its author, of any length.
    let error = escaped_and_cut(&error.to_string(), 300);
    tracing::warn!(kind = kind.name(), namespace, name, %error, "unreadable object; its previous version stays in use");
}
