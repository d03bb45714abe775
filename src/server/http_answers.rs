//! The HTTP answers of the webhook port: JSON, text, and those at a limit, after the deadline, or after an error of the server.

use super::body_bytes_within_budget::BytesWithinBudget;
use super::metrics::Shed;
use super::shared_state::State;
use crate::review::decide_webhook_request::WebhookEntry;
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use std::time::Instant;

pub(super) const BUSY_BECAUSE_OF_NAMESPACE: &str =
    "it has too many concurrent requests of one namespace (--max-requests, --max-body-memory)";
pub(super) const BUSY_BECAUSE_OF_MEMORY: &str = "other requests use too much memory (--max-body-memory)";

/// The answer at a limit. The API server retries after that second, within the webhook's timeout (client-go
/// rest/with_retry.go: any 5xx with Retry-After). It uses a new connection, which a Service may send to another replica.
pub(super) fn count_and_answer_busy(state: &State, reason: Shed, text: &str) -> Response {
    state.metrics.count_shed(reason);
    let mut response =
        plain(StatusCode::SERVICE_UNAVAILABLE, &format!("the server is busy: {text}; try again"));
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// The answer without a decision. It has no Retry-After, because the API server has no time left: it says that we took too
/// long, and failurePolicy decides.
pub(super) fn count_and_answer_late(state: &State, entry: WebhookEntry, started: Instant) -> Response {
    state.metrics.count_late_request(entry, started.elapsed());
    plain(StatusCode::GATEWAY_TIMEOUT, "fabric-admission: no decision within the webhook's timeout")
}

pub(super) fn internal_error_answer() -> Response {
    plain(StatusCode::INTERNAL_SERVER_ERROR, "fabric-admission: internal error; see the log of the server")
}

pub(super) fn json(body: BytesWithinBudget) -> Response {
    let (bytes, share) = body.into_bytes();
    let mut response = Response::new(Body::from(bytes));
    response.extensions_mut().insert(share);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

pub(super) fn plain(status: StatusCode, text: &str) -> Response {
    let mut response = Response::new(Body::from(format!("{text}\n")));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}
