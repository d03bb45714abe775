//! How long the API server waits for an answer.

use std::time::Duration;

/// How long the API server waits if it does not say so: the default of `timeoutSeconds` (k8s.io/api
/// admissionregistration/v1). It always says so.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The longest that it can say (`timeoutSeconds` is 1 to 30), and the shortest.
const LONGEST: u64 = 30;
const SHORTEST: u64 = 1;
/// The answer has to travel.
const MARGIN: Duration = Duration::from_millis(200);

/// How long after a request's header its answer is useful. The API server sends `?timeout=5s`, in whole seconds
/// (k8s.io/apiserver pkg/admission/plugin/webhook/mutating/dispatcher.go, `callAttemptMutating`).
pub(super) fn decision_timeout_from_query(query: Option<&str>) -> Duration {
    let parameters = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    let seconds = parameters
        .filter(|(name, _)| name == "timeout")
        .find_map(|(_, value)| value.strip_suffix('s')?.parse::<u64>().ok());
    let timeout = seconds.map_or(TIMEOUT, |s| Duration::from_secs(s.clamp(SHORTEST, LONGEST)));
    timeout.saturating_sub(MARGIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_api_server_says_how_long_it_waits() {
        for (query, seconds) in [
            (None, 10),
            (Some(""), 10),
            (Some("timeout=5s"), 5),
            (Some("a=b&timeout=30s"), 30),
            (Some("timeout=0s"), 1),
            (Some("timeout=99999999999s"), 30),
            (Some("timeout=-1s"), 10),
            (Some("timeout=1m"), 10),
        ] {
            assert_eq!(
                decision_timeout_from_query(query) + MARGIN,
                Duration::from_secs(seconds),
                "{query:?}"
            );
        }
    }
}
