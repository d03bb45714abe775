//! Paths of the webhook port. An invalid request gets 4xx and an internal error 500, so that
//! failurePolicy decides; a denial is always about the object.

use super::budgets::{self, Held, NoRoom};
use super::deadlines::Watch;
use super::decoded_size;
use super::metrics::{RequestResult, Shed};
use super::state::State;
use crate::facts::Mode;
use crate::review::envelope::EnvelopeError;
use crate::review::response;
use crate::review::webhook::{Answer, WebhookEntry, acknowledge, handle};
use crate::snapshot::Snapshot;
use crate::text::printable;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State as Shared};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::post;
use http_body_util::BodyExt;
use std::net::{IpAddr, Ipv4Addr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

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
        entry("/mutate", |_| Called::on(WebhookEntry::Mutate)),
        entry("/validate", |_| Called::on(WebhookEntry::Validate)),
        entry("/audit", |_| Called::on(WebhookEntry::Audit)),
        entry("/validate-workload", |state| Called::by(WebhookEntry::Workload, state.workloads)),
        entry("/validate-object", |state| Called::by(WebhookEntry::Object, state.network_objects)),
    ]
    .into_iter()
    .fold(Router::new(), |router, (path, method)| router.route(path, method))
    .fallback(async || {
        plain(
            StatusCode::NOT_FOUND,
            "unknown path; use /mutate, /validate, /audit, /validate-workload or /validate-object",
        )
    })
    .method_not_allowed_fallback(async || plain(StatusCode::METHOD_NOT_ALLOWED, "POST an AdmissionReview"))
    .with_state(state)
}

/// The webhook entry of a path.
#[derive(Debug, Clone, Copy)]
struct Called {
    entry: WebhookEntry,
    /// A setting switches it off: it still answers, and admits everything.
    off: bool,
}

impl Called {
    fn on(entry: WebhookEntry) -> Self {
        Self { entry, off: false }
    }
    fn by(entry: fn(Mode) -> WebhookEntry, mode: Option<Mode>) -> Self {
        Self { entry: entry(mode.unwrap_or(Mode::Audit)), off: mode.is_none() }
    }
}

/// The client of a request, as a request extension.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub(super) address: IpAddr,
    pub(super) watch: Arc<Watch>,
}

/// Makes a decision on a body.
type Decide = fn(&[u8], WebhookEntry, &Snapshot) -> Result<Answer, EnvelopeError>;

async fn admit(state: Arc<State>, called: fn(&State) -> Called, request: Request) -> Response {
    let held = match read(&state, request).await {
        Ok(held) => held,
        Err(response) => return response,
    };
    // Only now: a slow body costs no work, and its memory is counted as bytes.
    let Some(_at_work) = state.budgets.request() else {
        return busy(&state, Shed::Requests, "too many concurrent requests (--max-requests)");
    };
    let Called { entry, off } = called(&state);
    let decide: Decide = if off { |body, entry, _| acknowledge(body, entry) } else { handle };
    // A large body takes milliseconds and must not block other connections and probes.
    if held.bytes().len() > LARGE {
        let decoded = tokio::task::block_in_place(|| decoded_size::decoded(held.bytes()));
        let Some(_turn) = state.budgets.large(decoded).await else {
            return plain(StatusCode::PAYLOAD_TOO_LARGE, &too_many_entries(decoded));
        };
        return tokio::task::block_in_place(|| answer(&state, entry, held, decide));
    }
    answer(&state, entry, held, decide)
}

/// Larger bodies are decided on a blocking thread.
const LARGE: usize = 64 * 1024;

fn too_many_entries(decoded: usize) -> String {
    let (takes, most) = (decoded >> 20, budgets::DECODED >> 20);
    format!(
        "the body has too many list and map entries: it would take {takes} MiB to decode; at most {most} MiB are allowed"
    )
}

/// Why a body is not read to its end.
enum Unread {
    TooLarge,
    Memory,
    Ended,
}

async fn read(state: &State, request: Request) -> Result<Held, Response> {
    let (parts, body) = request.into_parts();
    let caller = parts.extensions.get::<Caller>();
    let address = caller.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |caller| caller.address);
    let content_type =
        parts.headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("application/json") {
        return Err(plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, "expected Content-Type application/json"));
    }
    let declared =
        parts.headers.get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse::<usize>().ok());
    let held = state.budgets.body(address, declared);
    let read = tokio::time::timeout(state.limits.body, collect(body, held, state.limits.body_bytes)).await;
    if let Some(caller) = caller {
        caller.watch.body_ends();
    }
    match read {
        Ok(Ok(held)) => Ok(held),
        Ok(Err(Unread::TooLarge)) => Err(plain(StatusCode::PAYLOAD_TOO_LARGE, "the body exceeds 8 MiB")),
        Ok(Err(Unread::Memory)) => Err(busy(state, Shed::Memory, MEMORY)),
        Ok(Err(Unread::Ended)) => Err(plain(StatusCode::BAD_REQUEST, "the body ended early")),
        Err(_) => {
            state.metrics.shed(Shed::SlowBody);
            let mut response = plain(StatusCode::REQUEST_TIMEOUT, "the client sent the body too slowly");
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            Err(response)
        }
    }
}

const MEMORY: &str = "too much memory held by other requests (--max-body-memory)";

/// The answer at a limit. The API server retries after that second, within the webhook's timeout (client-go
/// rest/with_retry.go: any 5xx with Retry-After). It uses a new connection, which a Service may send to another replica.
fn busy(state: &State, reason: Shed, text: &str) -> Response {
    state.metrics.shed(reason);
    let mut response = plain(StatusCode::SERVICE_UNAVAILABLE, &format!("busy: {text}; try again"));
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Reads a body. Memory is taken from the budget as bytes arrive, never by the length in a header. The rest of a refused
/// body is read and dropped, up to four times the limit: a client that still writes when the connection closes would not
/// see the answer.
async fn collect(mut body: Body, mut held: Held, most: usize) -> Result<Held, Unread> {
    let mut unread = None;
    let mut total = 0_usize;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Unread::Ended)?.into_data() else { continue };
        total = total.saturating_add(data.len());
        if total > most {
            unread = Some(Unread::TooLarge);
        }
        if unread.is_none()
            && let Err(NoRoom) = held.push(&data)
        {
            unread = Some(Unread::Memory);
        }
        if unread.is_some() {
            held.clear();
            if total > most.saturating_mul(4) {
                break;
            }
        }
    }
    unread.map_or(Ok(held), Err)
}

/// Decides and answers. A panic is a bug: it is counted and answered with 500, and the process continues.
fn answer(
    state: &State,
    looked_at: WebhookEntry,
    mut body: Held,
    decide: impl FnOnce(&[u8], WebhookEntry, &Snapshot) -> Result<Answer, EnvelopeError>,
) -> Response {
    let started = Instant::now();
    let snapshot = state.snapshot.load();
    let decided = catch_unwind(AssertUnwindSafe(|| {
        let outcome = decide(body.bytes(), looked_at, &snapshot)?;
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
                () if !decision.in_scope => RequestResult::OutOfScope,
                () if decision.denied => RequestResult::Denied,
                () if !decision.patch.is_empty() => RequestResult::Mutated,
                () => RequestResult::Allowed,
            };
            state.metrics.request(looked_at, result, started.elapsed());
            if decision.denied {
                let rules: Vec<&str> = decision.findings.iter().map(|f| f.rule).collect();
                tracing::info!(uid = printable(&outcome.uid, 64), ?rules, "denied");
            }
            match body.replace(text) {
                Ok(()) => json(body),
                Err(_) => busy(state, Shed::Memory, MEMORY),
            }
        }
        Ok(Err(error)) => {
            state.metrics.request(looked_at, RequestResult::BadRequest, started.elapsed());
            // The error may quote what was sent.
            let error = printable(&error.to_string(), 300);
            tracing::warn!(error, "answering a request failed");
            plain(StatusCode::BAD_REQUEST, &error)
        }
        Ok(Ok((_, Err(error)))) => {
            state.metrics.request(looked_at, RequestResult::Fault, started.elapsed());
            tracing::error!(%error, "answer cannot be written");
            plain(StatusCode::INTERNAL_SERVER_ERROR, "fabric-admission: internal error")
        }
        Err(_) => {
            state.metrics.panicked();
            state.metrics.request(looked_at, RequestResult::Fault, started.elapsed());
            plain(StatusCode::INTERNAL_SERVER_ERROR, "fabric-admission: internal error")
        }
    }
}

fn json(body: Held) -> Response {
    let mut response = Response::new(Body::from(body.into_bytes()));
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
    use std::sync::Arc;

    #[test]
    fn a_panic_is_counted_and_answered_500() {
        let state = State::bare();
        let body = state.budgets.body(IpAddr::V4(Ipv4Addr::LOCALHOST), None);
        let response = answer(&state, WebhookEntry::Mutate, body, |_, _, _| panic!("a bug"));
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let text = state.metrics.text();
        assert!(text.contains("fabric_admission_panics_total 1"), "{text}");
        assert!(text.contains("requests_total{entry=\"mutate\",result=\"fault\"} 1"), "{text}");
    }

    #[test]
    fn requests_over_the_budget_come_again_when_it_is_free() {
        let mut state = State::bare();
        state.limits.requests = 1;
        state.budgets = crate::server::budgets::Budgets::new(&state.limits);
        let state = Arc::new(state);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let ask = || {
            let request = Request::post("/mutate").header(header::CONTENT_TYPE, "application/json");
            let request = request.body(Body::from("{}")).unwrap();
            runtime
                .block_on(admit(Arc::clone(&state), |_| Called::on(WebhookEntry::Mutate), request))
                .status()
        };
        let at_work = state.budgets.request();
        assert!(at_work.is_some());
        assert_eq!(ask(), StatusCode::SERVICE_UNAVAILABLE);
        drop(at_work);
        assert_eq!(ask(), StatusCode::BAD_REQUEST, "it is read and judged");
        assert_eq!(state.budgets.used(), (0, 0));
    }
}
