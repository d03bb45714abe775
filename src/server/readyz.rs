//! When the server is ready, and what `/readyz` says.

use super::certificate_source_and_file_reload;
use super::shared_state::State;
use axum::http::StatusCode;
use std::sync::atomic::Ordering;

/// Ready once everything is loaded and the API server would trust our certificate, and until a signal to stop. An API
/// server that is away, or a background task that is down, changes nothing: the server decides by what it knows.
pub(super) fn readiness(state: &State) -> (StatusCode, String) {
    if !state.ready.load(Ordering::Acquire) {
        return (StatusCode::SERVICE_UNAVAILABLE, "stopping".to_owned());
    }
    let (mut problems, remarks) = state.certificates.problems_and_remarks();
    if state.failed.has(certificate_source_and_file_reload::TASK) && state.expiry.may_be_outside_dates() {
        problems.push(
            "the certificate has expired or expires soon, and the task that renews it has failed; restart the pod".to_owned(),
        );
    }
    let mut lines: Vec<String> = problems.iter().map(|line| format!("certificates: {line}")).collect();
    if let Some(kinds) = state.sync.kinds_that_readiness_waits_for() {
        lines.insert(0, format!("waiting for the first list of these kinds: {}", kinds.join(", ")));
    }
    let status = if lines.is_empty() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    if lines.is_empty() {
        lines.push("ok".to_owned());
    }
    lines.extend(state.sync.missing_prerequisites());
    lines.extend(remarks.iter().map(|line| format!("certificates: {line}")));
    lines.extend(state.failed.lines());
    if state.snapshot.load().settings().withhold_changes {
        lines.push("the webhook does not change pods (--mutate off)".to_owned());
    }
    (status, lines.join("\n"))
}
