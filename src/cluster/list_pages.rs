//! A list in pages. Never a list from resource version 0: it ignores the limit, and the answer is one piece
//! (kubernetes/kubernetes staging/src/k8s.io/apiserver/pkg/storage/cacher), which at 130,000 nodes is gigabytes.

use super::call_deadline::{LIST_OR_WATCH, late, reason};
use super::default_watch_pauses_and_timeouts::WatchTimings;
use super::lossy_utf8::text;
use super::packed_names_of_listed_objects::Listed;
use super::page_size::PageSize;
use super::pause_after_failure_or_absence::MAX_RETRY_AFTER;
use super::watch_lines::{Page, Status, identify};
use super::watch_state::Shared;
use super::watched_kinds::Watched;
use crate::facts::Kind;
use crate::snapshot::{FactError, Identity, Layer};
use crate::text::printable;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use kube::Client;
use kube::client::Body;
use serde_json::value::RawValue;
use std::time::Duration;

/// Objects of a page. A node is about 34 kB, and a page of them is in memory as a whole.
fn limit(kind: &Watched) -> usize {
    if kind.kind == Kind::Node { 100 } else { 500 }
}

/// Most bytes of a page. If objects have megabytes each, the next request asks for fewer.
const MAX_PAGE: usize = 16 << 20;

/// Why a list or a watch ended.
#[derive(Debug)]
pub(super) enum Failure {
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

impl Failure {
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
pub(super) const PLAIN: (http::HeaderName, http::HeaderValue) =
    (http::header::ACCEPT_ENCODING, http::HeaderValue::from_static("identity"));

/// What answers are asked for as.
pub(super) const JSON: &str = "application/json";

/// Sends a GET and waits for its headers.
pub(super) async fn get(client: &Client, path: &str) -> Result<http::Response<Body>, Failure> {
    get_as(client, path, JSON, LIST_OR_WATCH).await
}

/// The same for another form of the answer.
pub(super) async fn get_as(
    client: &Client,
    path: &str,
    accept: &'static str,
    deadline: Duration,
) -> Result<http::Response<Body>, Failure> {
    let request = http::Request::get(path)
        .header(http::header::ACCEPT, accept)
        .header(PLAIN.0, PLAIN.1)
        .body(Body::empty())
        .map_err(|e| Failure::Other(e.to_string()))?;
    let response = match tokio::time::timeout(deadline, client.send(request)).await {
        Err(_) => return Err(Failure::Other(late(deadline))),
        Ok(Err(kube::Error::Api(status))) => return Err(Failure::of(status.code, &status.message)),
        Ok(Err(error)) => return Err(Failure::Other(reason(&error))),
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
    Err(Failure::with_pause(code, &crate::text::printable(&status.message, 300), pause))
}

/// Lists a kind into the builder and removes objects that are not in the list. Returns the resource version to watch from.
pub(super) async fn replace_kind_by_list(
    kind: &'static Watched,
    client: &Client,
    shared: &Shared,
) -> Result<String, Failure> {
    let mut listed = Listed::default();
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
        let response = get_as(client, &path, JSON, request).await?;
        let body = Limited::new(response.into_body(), MAX_PAGE).collect();
        let bytes = match tokio::time::timeout(request, body).await {
            Err(_) => {
                return Err(Failure::Other(format!(
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
                return Err(Failure::Other(format!(
                    "the response to the list request was interrupted: {}",
                    reason(&*error)
                )));
            }
            Ok(Ok(body)) => body.to_bytes(),
        };
        let text = text(&bytes);
        let page: Page<'_> = serde_json::from_str(&text)
            .map_err(|error| Failure::Other(format!("the list could not be parsed: {error}")))?;
        for object in page.items.iter().flatten() {
            let Identity { namespace, name, .. } = add_object(kind, shared, object);
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
            let version =
                version.ok_or_else(|| Failure::Other("the list has no resourceVersion".to_owned()))?;
            // Not for each page: the facts of a list that never ends grow old.
            shared.record_contact(kind.name());
            shared.metrics.watch_listed(kind.name());
            shared.metrics.watch_objects(kind.name(), listed.len());
            let kept = listed.into_kept();
            shared.change_builder_and_publish(|builder| {
                builder.remove_objects_not_listed(Layer::Live, kind.kind, kept)
            });
            return Ok(version);
        }
    }
}

/// Adds an object to the builder. Returns its identity, with an empty name if even that is malformed. An unreadable object
/// is counted, and its previous facts stay. One that its namespace has no room for is counted too, and has no facts.
pub(super) fn add_object(kind: &'static Watched, shared: &Shared, object: &RawValue) -> Identity {
    let added = shared.change_builder_and_publish(|b| {
        b.add_identified(Layer::Live, kind.group, kind.name(), object.get(), "default")
    });
    match added {
        Ok(Some(identity)) => identity,
        Ok(None) => identify(kind, object),
        Err(error) => {
            let identity = identify(kind, object);
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

fn report_object_not_stored(kind: &'static Watched, shared: &Shared, identity: &Identity, error: &FactError) {
    shared.metrics.watch_left_out(kind.name());
    let (namespace, name) = (identity.namespace.as_str(), identity.name.as_str());
    tracing::warn!(kind = kind.name(), namespace, name, %error, "an object is not kept, because the objects of its namespace use too much of the server's memory; the server treats the object as unknown");
}

fn report_unreadable_object(kind: &'static Watched, shared: &Shared, identity: &Identity, error: &FactError) {
    shared.metrics.watch_malformed(kind.name());
    let (namespace, name) = (identity.namespace.as_str(), identity.name.as_str());
    // Keys of the object are texts of its author, of any length.
    let error = printable(&error.to_string(), 300);
    tracing::warn!(kind = kind.name(), namespace, name, %error, "unreadable object; its previous version stays in use");
}
