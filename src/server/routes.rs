//! Paths of the webhook port. A request that cannot be answered is 4xx and a fault of ours 500, so that
//! failurePolicy decides; a denial is always about the object.

use super::State;
use super::metrics::Result as Outcome;
use crate::review::envelope::EnvelopeError;
use crate::review::response;
use crate::review::webhook::{Entry, Outcome as Decided, handle};
use crate::snapshot::{Mode, Snapshot};
use crate::text::printable;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State as Shared};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::post;
use http_body_util::BodyExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use tokio::sync::SemaphorePermit;

/// The router of the webhook port.
pub(super) fn router(state: Arc<State>) -> Router {
    let entry = |path: &'static str, called: fn(&State) -> Called| {
        (
            path,
            post(move |shared: Shared<Arc<State>>, request: Request| async move {
                admit(shared.0, called, request).await
            }),
        )
    };
    [
        entry("/mutate", |_| Called::on(Entry::Mutate)),
        entry("/validate", |_| Called::on(Entry::Validate)),
        entry("/audit", |_| Called::on(Entry::Audit)),
        entry("/validate-workload", |state| Called::by(Entry::Workload, state.workloads)),
        entry("/validate-object", |state| Called::by(Entry::Object, state.network_objects)),
    ]
    .into_iter()
    .fold(Router::new(), |router, (path, method)| router.route(path, method))
    .fallback(async || {
        plain(
            StatusCode::NOT_FOUND,
            "no such path; /mutate, /validate, /audit, /validate-workload and /validate-object are served",
        )
    })
    .method_not_allowed_fallback(async || plain(StatusCode::METHOD_NOT_ALLOWED, "POST an AdmissionReview"))
    .with_state(state)
}

/// The entry that a path stands for.
#[derive(Debug, Clone, Copy)]
struct Called {
    entry: Entry,
    /// A setting switches it off: it still answers, and lets everything through.
    off: bool,
}

impl Called {
    fn on(entry: Entry) -> Self {
        Self { entry, off: false }
    }
    fn by(entry: fn(Mode) -> Entry, mode: Option<Mode>) -> Self {
        Self { entry: entry(mode.unwrap_or(Mode::Audit)), off: mode.is_none() }
    }
}

async fn admit(state: Arc<State>, called: fn(&State) -> Called, request: Request) -> Response {
    let mut response = match read(&state, request).await {
        Err(response) => response,
        // A large body takes milliseconds; other connections and the probes go on meanwhile.
        Ok(body) if body.bytes.len() > 64 * 1024 => {
            tokio::task::block_in_place(|| answer(&state, called(&state), &body.bytes, handle))
        }
        Ok(body) => answer(&state, called(&state), &body.bytes, handle),
    };
    // The API server re-uses open connections to a pod that is going away (kubernetes/kubernetes#127335).
    if state.draining.load(Ordering::Acquire) {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// A body and its share of the budget, which it gives back when it is dropped.
struct Held<'a> {
    bytes: Vec<u8>,
    permits: Option<SemaphorePermit<'a>>,
}

/// Why a body is not read to its end.
enum Unread {
    TooLarge,
    Busy,
    Ended,
}

async fn read(state: &State, request: Request) -> Result<Held<'_>, Response> {
    let (parts, body) = request.into_parts();
    let content_type =
        parts.headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("application/json") {
        return Err(plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Content-Type application/json is expected"));
    }
    let declared =
        parts.headers.get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse::<usize>().ok());
    match tokio::time::timeout(state.limits.body, collect(state, body, declared)).await {
        Ok(Ok(held)) => Ok(held),
        Ok(Err(Unread::TooLarge)) => Err(plain(StatusCode::PAYLOAD_TOO_LARGE, "at most 8 MiB are expected")),
        Ok(Err(Unread::Busy)) => {
            Err(plain(StatusCode::SERVICE_UNAVAILABLE, "busy: too many bytes are held by other requests"))
        }
        Ok(Err(Unread::Ended)) => Err(plain(StatusCode::BAD_REQUEST, "the body ended early")),
        Err(_) => {
            let mut response = plain(StatusCode::REQUEST_TIMEOUT, "the body came too slowly");
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            Err(response)
        }
    }
}

/// Reads a body. Memory is taken from the budget as bytes come, never by what a header promises. Of a body that is
/// too large the rest is read and dropped, up to four times as much: closing on a client that still writes would
/// lose it the answer.
async fn collect(state: &State, mut body: Body, declared: Option<usize>) -> Result<Held<'_>, Unread> {
    let most = state.limits.body_bytes;
    let mut held = Held { bytes: Vec::with_capacity(declared.unwrap_or(0).min(64 * 1024)), permits: None };
    let mut total = 0_usize;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Unread::Ended)?.into_data() else { continue };
        total = total.saturating_add(data.len());
        if total > most {
            held = Held { bytes: Vec::new(), permits: None };
            if total > most.saturating_mul(4) {
                break;
            }
            continue;
        }
        // Counted over the whole body: rounding each frame up would let a few bytes take a kibibyte.
        let more = total.div_ceil(1024).saturating_sub((total - data.len()).div_ceil(1024));
        let permits = state.body_budget.try_acquire_many(u32::try_from(more).unwrap_or(u32::MAX));
        let permits = permits.map_err(|_| Unread::Busy)?;
        match &mut held.permits {
            Some(held) => held.merge(permits),
            none => *none = Some(permits),
        }
        held.bytes.extend_from_slice(&data);
    }
    if total > most { Err(Unread::TooLarge) } else { Ok(held) }
}

/// Decides and answers. A panic is a bug of ours: it is counted and answered 500, and the process serves on.
fn answer(
    state: &State,
    called: Called,
    body: &[u8],
    decide: impl FnOnce(&[u8], Entry, &Snapshot) -> Result<Decided, EnvelopeError>,
) -> Response {
    let started = Instant::now();
    let snapshot = state.snapshot.load();
    let looked_at = called.entry;
    let decided = catch_unwind(AssertUnwindSafe(|| {
        let mut outcome = decide(body, looked_at, &snapshot)?;
        if called.off {
            outcome.decision = crate::review::Decision::default();
            outcome.templates.clear();
        }
        let text = response::render(&outcome);
        Ok::<_, EnvelopeError>((outcome, text))
    }));
    match decided {
        Ok(Ok((outcome, Ok(text)))) => {
            for finding in &outcome.decision.findings {
                state.metrics.finding(finding.rule);
            }
            let decision = &outcome.decision;
            let result = match () {
                () if !decision.in_scope => Outcome::OutOfScope,
                () if decision.denied => Outcome::Denied,
                () if !decision.patch.is_empty() => Outcome::Mutated,
                () => Outcome::Allowed,
            };
            state.metrics.request(looked_at, result, started.elapsed());
            if decision.denied {
                let rules: Vec<&str> = decision.findings.iter().map(|f| f.rule).collect();
                tracing::info!(uid = printable(&outcome.uid, 64), ?rules, "denied");
            }
            json(text)
        }
        Ok(Err(error)) => {
            state.metrics.request(looked_at, Outcome::BadRequest, started.elapsed());
            // The error may quote what was sent.
            let error = printable(&error.to_string(), 300);
            tracing::warn!(error, "request cannot be answered");
            plain(StatusCode::BAD_REQUEST, &error)
        }
        Ok(Ok((_, Err(error)))) => {
            state.metrics.request(looked_at, Outcome::Fault, started.elapsed());
            tracing::error!(%error, "answer cannot be written");
            plain(StatusCode::INTERNAL_SERVER_ERROR, "fabric-admission: internal error")
        }
        Err(_) => {
            state.metrics.panicked();
            state.metrics.request(looked_at, Outcome::Fault, started.elapsed());
            plain(StatusCode::INTERNAL_SERVER_ERROR, "fabric-admission: internal error")
        }
    }
}

fn json(body: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(body));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Sync;
    use crate::server::{Limits, Metrics};
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    fn state() -> State {
        let limits = Limits::default();
        State {
            snapshot: arc_swap::ArcSwap::from_pointee(Snapshot::default()),
            metrics: Arc::new(Metrics::new()),
            sync: Sync::default(),
            workloads: None,
            network_objects: None,
            limits,
            body_budget: tokio::sync::Semaphore::new(limits.body_budget / 1024),
            ready: AtomicBool::new(true),
            draining: AtomicBool::new(false),
        }
    }

    #[test]
    fn a_panic_is_counted_and_answered_500() {
        let state = state();
        let response = answer(&state, Called::on(Entry::Mutate), b"{}", |_, _, _| panic!("a bug"));
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let text = state.metrics.text();
        assert!(text.contains("fabric_admission_panics_total 1"), "{text}");
        assert!(text.contains("requests_total{entry=\"mutate\",result=\"fault\"} 1"), "{text}");
    }
}
