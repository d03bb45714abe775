//! The admin port: plain HTTP, for probes and Prometheus, never for the API server.

use super::accept_loop::READ_BUFFER;
use super::http_answers;
use super::readyz::readiness;
use super::shared_state::State;
use axum::Router;
use axum::extract::State as Shared;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::get;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::VecDeque;
use std::sync::Arc;
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
        .route("/livez", get(async || http_answers::plain(StatusCode::OK, "ok")))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .fallback(async || {
            http_answers::plain(StatusCode::NOT_FOUND, "unknown path; use /livez, /readyz or /metrics")
        })
        .with_state(state)
}

async fn ready(Shared(state): Shared<Arc<State>>) -> Response {
    let (status, text) = readiness(&state);
    http_answers::plain(status, &text)
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
    let mut response = http_answers::plain(StatusCode::OK, state.metrics.text().trim_end());
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
                // One request for each connection: a client that sends many at once must not delay the next probe.
                .keep_alive(false)
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
        // Each connection has a turn before the next one may push it out.
        tokio::task::yield_now().await;
    }
}
