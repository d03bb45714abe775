//! The API server itself: version, clock, and what its metrics say of our webhooks.

use super::check_outcome::DoctorCheckOutcome;
use super::facts_that_were_read::{Facts, text_at_pointer};
use crate::certificates::days_since_epoch;
use crate::kubernetes_version::{OLDEST, Version};
use crate::text::count_with_noun;
use std::collections::BTreeMap;

/// Difference of clocks that is not a slow answer (s).
const SKEW: i64 = 60;

pub(super) fn check_api_server_version(facts: &Facts) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    let shown = text_at_pointer(&facts.api_version, "/gitVersion");
    match Version::of_server(
        text_at_pointer(&facts.api_version, "/major"),
        text_at_pointer(&facts.api_version, "/minor"),
    ) {
        Some(version) if !version.is_supported() => Ok(DoctorCheckOutcome::error(
            format!("the API server is {shown}; the webhook's objects need Kubernetes {OLDEST}"),
            format!("Upgrade the control plane to Kubernetes {OLDEST} or newer."),
        )),
        Some(_) => Ok(DoctorCheckOutcome::success_with(shown)),
        None => Ok(DoctorCheckOutcome::skipped("the API server reports no version")),
    }
}

pub(super) fn check_clock_against_api_server(
    facts: &Facts,
) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    let Some(there) = facts.api_clock else {
        return Ok(DoctorCheckOutcome::skipped("the API server sends no header Date"));
    };
    let ahead = facts.now - there;
    if ahead.abs() <= SKEW {
        return Ok(DoctorCheckOutcome::success());
    }
    let word = if ahead > 0 { "ahead of" } else { "behind" };
    Ok(DoctorCheckOutcome::warning(
        format!("{} s {word} the API server's, so results about certificates may be wrong", ahead.abs()),
        "Synchronize the clock of this machine, for example with chrony.",
    ))
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Unix seconds of a header `Date`, such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7).
#[must_use]
pub fn http_date(text: &str) -> Option<i64> {
    let mut parts = text.split_once(", ")?.1.split(' ');
    let day: i64 = parts.next()?.parse().ok()?;
    let month = parts.next()?;
    let month = (1..).zip(MONTHS).find(|(_, name)| *name == month)?.0;
    let year: i64 = parts.next()?.parse().ok()?;
    let mut time = parts.next()?.splitn(3, ':').map(|part| part.parse::<i64>().ok());
    let (hour, minute, second) = (time.next()??, time.next()??, time.next()??);
    Some(days_since_epoch(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second)
}

/// A line of metrics: name, labels and value.
fn sample(line: &str) -> Option<(&str, &str, f64)> {
    let (name, rest) = line.split_once('{')?;
    let (labels, value) = rest.rsplit_once('}')?;
    Some((name, labels, value.split_whitespace().next()?.parse().ok()?))
}

fn label<'a>(labels: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = labels.split_once(&format!("{name}=\""))?;
    rest.split_once('"').map(|(value, _)| value)
}

pub(super) fn check_calls_of_webhooks_succeed(
    facts: &Facts,
) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    let lines = facts.metrics.as_ref().map_err(|why| {
        DoctorCheckOutcome::skipped(format!("the metrics of the API server could not be read: {why}"))
    })?;
    let mut failed: BTreeMap<String, u64> = BTreeMap::new();
    for (name, labels, value) in lines.iter().filter_map(|line| sample(line)) {
        let Some(webhook) = label(labels, "name").filter(|n| n.ends_with(".fabric-admission.dev")) else {
            continue;
        };
        // k8s.io/apiserver pkg/admission/metrics/metrics.go. An ordinary denial has error_type no_error.
        let what = match name {
            "apiserver_admission_webhook_fail_open_count" => "admitted without an answer",
            "apiserver_admission_webhook_rejection_count"
                if label(labels, "error_type").is_some_and(|kind| kind != "no_error") =>
            {
                "refused without an answer"
            }
            _ => continue,
        };
        if value > 0.0 {
            // Counters are whole numbers; `as` saturates.
            *failed.entry(format!("{webhook}: {what}")).or_default() += value as u64;
        }
    }
    let problems: Vec<String> = failed
        .into_iter()
        .map(|(what, times)| format!("{what}: {}", count_with_noun(times as usize, "request")))
        .collect();
    if problems.is_empty() {
        return Ok(DoctorCheckOutcome::success_with("none"));
    }
    Ok(DoctorCheckOutcome::warning_if_any(
        &problems,
        "Run doctor again after some time. If the counts grow, compare the time of the failures with the server's log \
         and with docs/webhook-failures.md. The counts are those of one API server since its start.",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_http() {
        assert_eq!(http_date("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        for text in ["", "Sun, 06 Nov", "Sunday, 06-Nov-94 08:49:37 GMT"] {
            assert_eq!(http_date(text), None, "{text}");
        }
    }
}
