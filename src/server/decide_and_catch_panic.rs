//! A decision on a body and its answer. A panic in the decision is answered with 500.

use super::body_bytes_within_budget::BytesWithinBudget;
use super::decision_log;
use super::http_answers::{
    BUSY_BECAUSE_OF_MEMORY, count_and_answer_busy, internal_error_answer, json, plain,
};
use super::metrics::{RequestResult, Shed};
use super::shared_state::State;
use crate::decision_limits::DecisionLimits;
use crate::review::Verdict;
use crate::review::admission_response::{self, OwnerAndDuration};
use crate::review::admission_review::RequestError;
use crate::review::decide_webhook_request::{Answer, SnapshotForAudience, WebhookEntry};
use crate::text::{escaped_and_cut, replace_bytes_that_are_not_utf8};
use axum::http::StatusCode;
use axum::response::Response;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// Makes a decision on a body, within a time.
pub(super) type Decide =
    fn(&[u8], WebhookEntry, SnapshotForAudience<'_>, &DecisionLimits<'_>) -> Result<Answer, RequestError>;

/// Decides and answers; the body again when the time is over. A panic is a bug: it is counted and answered with 500, and the
/// process continues.
pub(super) fn decide_log_count_and_answer(
    state: &State,
    looked_at: WebhookEntry,
    mut body: BytesWithinBudget,
    decide: Decide,
    deadline: &DecisionLimits<'_>,
) -> Result<Response, BytesWithinBudget> {
    let started = Instant::now();
    let snapshot = state.snapshot.load();
    let decided = catch_unwind(AssertUnwindSafe(|| {
        let known = SnapshotForAudience { snapshot: &snapshot, audience: state.audience };
        let outcome = match decide(body.bytes(), looked_at, known, deadline) {
            // The API server sends some JSON of an object as its author wrote it. Go's decoder reads U+FFFD there; an error
            // would let the object past the entries that fail open.
            Err(RequestError::Encoding) => {
                body.change_bytes_in_place(replace_bytes_that_are_not_utf8);
                decide(body.bytes(), looked_at, known, deadline)?
            }
            decided => decided?,
        };
        let owner = outcome.names.as_ref().map_or("", |names| &names.owner);
        let text = admission_response::render_with_owner_and_duration(
            &outcome,
            &OwnerAndDuration { owner, took: Some(started.elapsed()) },
        );
        let (verdict, took) = (Verdict::of(&outcome), started.elapsed());
        decision_log::log_decision_if_wanted(state.log_decisions, &outcome, body.bytes(), verdict, took);
        Ok::<_, RequestError>((outcome, text, verdict, took))
    }));
    Ok(match decided {
        Ok(Err(RequestError::Late)) => return Err(body),
        Ok(Ok((outcome, text, verdict, took))) => {
            state.metrics.count_decision_and_request(&outcome, verdict, &snapshot, took);
            match body.replace_by_answer(text) {
                Ok(()) => json(body),
                Err(_) => count_and_answer_busy(state, Shed::Memory, BUSY_BECAUSE_OF_MEMORY),
            }
        }
        Ok(Err(error)) => {
            state.metrics.count_request_and_duration(looked_at, RequestResult::BadRequest, started.elapsed());
            // The error may quote what was sent.
            let error = escaped_and_cut(&error.to_string(), 300);
            tracing::warn!(error, "refused a request: its body is not a valid AdmissionReview");
            plain(StatusCode::BAD_REQUEST, &error)
        }
        Err(_) => {
            state.metrics.count_panic();
            state.metrics.count_request_and_duration(looked_at, RequestResult::Fault, started.elapsed());
            internal_error_answer()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision_limits::NEVER;
    use std::net::{IpAddr, Ipv4Addr};

    #[test]
    fn a_panic_is_counted_and_answered_500() {
        let state = State::bare();
        let body = state.budgets.empty_body_of_address(IpAddr::V4(Ipv4Addr::LOCALHOST), None);
        let response = decide_log_count_and_answer(
            &state,
            WebhookEntry::Mutate,
            body,
            |_, _, _, _| panic!("a bug"),
            &NEVER,
        )
        .ok()
        .unwrap();
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let text = state.metrics.text_for_scrape();
        assert!(text.contains("fabric_admission_panics_total 1"), "{text}");
        assert!(
            text.contains("requests_total{entry=\"mutate\",mode=\"enforce\",result=\"fault\"} 1"),
            "{text}"
        );
    }
}
