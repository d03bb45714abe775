//! The admin port: plain HTTP, for probes and Prometheus, never for the API server.

use super::accept::READ_BUFFER;
use super::answers;
use super::certificate_files;
use super::state::State;
use axum::Router;
use axum::extract::State as Shared;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::get;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;
use tower::ServiceExt;

/// Probes and scrapers are few. For one more the oldest goes: whoever holds connections open must not keep the kubelet
/// from asking whether we live.
const MAX_CONNECTIONS: usize = 64;
/// Deadline of a header, and of an idle connection.
const HEADER: Duration = Duration::from_secs(30);

fn router(state: Arc<State>) -> Router {
    Router::new()
        .route("/livez", get(async || answers::plain(StatusCode::OK, "ok")))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .fallback(async || {
            answers::plain(StatusCode::NOT_FOUND, "unknown path; use /livez, /readyz or /metrics")
        })
        .with_state(state)
}

async fn ready(Shared(state): Shared<Arc<State>>) -> Response {
    let (status, text) = readiness(&state);
    answers::plain(status, &text)
}

/// Ready once everything is loaded and the API server would trust our certificate, and until a signal to stop. An API
/// server that is away, or a background task that is down, changes nothing: the server decides by what it knows.
pub(super) fn readiness(state: &State) -> (StatusCode, String) {
    if !state.ready.load(Ordering::Acquire) {
        return (StatusCode::SERVICE_UNAVAILABLE, "stopping".to_owned());
    }
    let (mut problems, remarks) = state.certificates.lines();
    if state.failed.has(certificate_files::TASK) && state.expiry.is_near() {
        problems.push(
            "the certificate has expired or expires soon, and the task that renews it has failed; restart the pod".to_owned(),
        );
    }
    let mut lines: Vec<String> = problems.iter().map(|line| format!("certificates: {line}")).collect();
    if let Some(kinds) = state.sync.waiting() {
        lines.insert(0, format!("waiting for the first list of these kinds: {}", kinds.join(", ")));
    }
    let status = if lines.is_empty() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    if lines.is_empty() {
        lines.push("ok".to_owned());
    }
    lines.extend(state.sync.missing());
    lines.extend(remarks.iter().map(|line| format!("certificates: {line}")));
    lines.extend(state.failed.lines());
    if state.snapshot.load().settings().withhold_changes {
        lines.push("the webhook does not change pods (--mutate off)".to_owned());
    }
    (status, lines.join("\n"))
}

/// Seconds as days.
fn days(seconds: i64) -> f64 {
    let days = Duration::from_secs(seconds.unsigned_abs()).as_secs_f64() / 86_400.0;
    if seconds < 0 { -days } else { days }
}

async fn metrics(Shared(state): Shared<Arc<State>>) -> Response {
    let (requests, bytes) = state.budgets.used();
    state.metrics.used(requests, bytes);
    let days = state.expiry.left().map(days);
    state.metrics.aged(state.sync.ages().into_iter(), days);
    let mut response = answers::plain(StatusCode::OK, state.metrics.text().trim_end());
    let openmetrics = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, openmetrics);
    response
}

/// Serves until aborted; through the lame-duck time as well, so that probes see it.
pub(super) async fn serve(listener: Arc<TcpListener>, state: Arc<State>) {
    let router = router(state);
    let mut open = VecDeque::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let router = router.clone();
        let connection = tokio::spawn(async move {
            let service =
                hyper::service::service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
                    router.clone().oneshot(request.map(axum::body::Body::new))
                });
            let connection = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEADER)
                .max_buf_size(READ_BUFFER)
                .serve_connection(TokioIo::new(stream), service);
            let _ = connection.await;
        });
        open.retain(|connection: &AbortHandle| !connection.is_finished());
        open.push_back(connection.abort_handle());
        if open.len() > MAX_CONNECTIONS
            && let Some(oldest) = open.pop_front()
        {
            oldest.abort();
        }
    }
}
