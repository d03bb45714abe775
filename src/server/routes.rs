//! Paths of the webhook port. An invalid request gets 4xx and an internal error 500, so that
//! failurePolicy decides; a denial is always about the object.

use super::api_server_timeout;
use super::decide_and_catch_panic::Decide;
use super::decision_threads;
use super::http_answers::{count_and_answer_busy, plain};
use super::metrics::Shed;
use super::request_body;
use super::shared_state::State;
use super::which_thread::{self, DecisionThread};
use crate::facts::EnforcementMode;
use crate::review::decide_webhook_request::{
    WebhookEntry, admit_without_decision, decide_body_within_deadline,
};
use axum::Router;
use axum::extract::{Request, State as Shared};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::post;
use std::sync::Arc;
use std::time::Instant;

/// The router of the webhook port.
pub(super) fn router(state: Arc<State>) -> Router {
    let entry = |path: &'static str, called: fn(&State) -> EntryOfPath| {
        (
            path,
            post(move |shared: Shared<Arc<State>>, request: Request| async move {
                handle_admission_request(shared.0, called, request).await
            }),
        )
    };
    [
        entry("/mutate", |_| EntryOfPath::on(WebhookEntry::Mutate)),
        entry("/validate", |_| EntryOfPath::on(WebhookEntry::Validate)),
        entry("/audit", |_| EntryOfPath::on(WebhookEntry::Audit)),
        entry("/validate-workload", |state| EntryOfPath::by(WebhookEntry::Workload, state.workloads)),
        entry("/validate-networks", |_| EntryOfPath::on(WebhookEntry::Networks)),
        entry("/validate-object", |state| EntryOfPath::by(WebhookEntry::Object, state.network_objects)),
    ]
    .into_iter()
    .fold(Router::new(), |router, (path, method)| router.route(path, method))
    .fallback(async || {
        plain(
            StatusCode::NOT_FOUND,
            "unknown path; use /mutate, /validate, /audit, /validate-workload, /validate-networks or /validate-object",
        )
    })
    .method_not_allowed_fallback(async || {
        plain(StatusCode::METHOD_NOT_ALLOWED, "use POST with an AdmissionReview as the body")
    })
    .with_state(state)
}

/// The webhook entry of a path.
#[derive(Debug, Clone, Copy)]
struct EntryOfPath {
    entry: WebhookEntry,
    /// A setting switches it off: it still answers, and admits everything.
    off: bool,
}

impl EntryOfPath {
    fn on(entry: WebhookEntry) -> Self {
        Self { entry, off: false }
    }
    fn by(entry: fn(EnforcementMode) -> WebhookEntry, mode: Option<EnforcementMode>) -> Self {
        Self { entry: entry(mode.unwrap_or(EnforcementMode::Audit)), off: mode.is_none() }
    }
}

async fn handle_admission_request(
    state: Arc<State>,
    called: fn(&State) -> EntryOfPath,
    request: Request,
) -> Response {
    let until = Instant::now() + api_server_timeout::decision_timeout_from_query(request.uri().query());
    let held = match request_body::read(&state, request).await {
        Ok(held) => held,
        Err(response) => return response,
    };
    // Only now: a slow body costs no work, and its memory is counted as bytes.
    let Some(_at_work) = state.budgets.count_request_or_refuse(held.peer(), held.bytes().len()) else {
        return count_and_answer_busy(
            &state,
            Shed::Requests,
            "it has too many concurrent requests (--max-requests)",
        );
    };
    let EntryOfPath { entry, off } = called(&state);
    let decide: Decide = if off {
        |body, entry, _, _| admit_without_decision(body, entry)
    } else {
        decide_body_within_deadline
    };
    match which_thread::choose_thread(&state, entry, held.bytes(), off) {
        DecisionThread::OfItsOwn(beside) => {
            decision_threads::decide_behind_reading_thread(&state, entry, (held, beside), decide, until).await
        }
        DecisionThread::ThatReadIt => {
            decision_threads::decide_on_reading_thread_first(&state, entry, held, decide, until).await
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use axum::http::header;
    use std::net::{IpAddr, Ipv4Addr};

    #[test]
    fn requests_over_the_budget_come_again_when_it_is_free() {
        let mut state = State::bare();
        state.limits.requests = 1;
        state.budgets = crate::server::budgets_for_requests_and_bytes::Budgets::new(&state.limits);
        let state = Arc::new(state);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let ask = || {
            let request = Request::post("/mutate").header(header::CONTENT_TYPE, "application/json");
            let request = request.body(Body::from("{}")).unwrap();
            runtime
                .block_on(handle_admission_request(
                    Arc::clone(&state),
                    |_| EntryOfPath::on(WebhookEntry::Mutate),
                    request,
                ))
                .status()
        };
        let at_work = state.budgets.count_request_or_refuse(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
        assert!(at_work.is_some());
        assert_eq!(ask(), StatusCode::SERVICE_UNAVAILABLE);
        drop(at_work);
        assert_eq!(ask(), StatusCode::BAD_REQUEST, "it is read and judged");
        assert_eq!(state.budgets.requests_and_bytes_in_use(), (0, 0));
    }
}
