//! The server's Deployment, Service, endpoints, versions and clock.

use super::check_outcome::DoctorCheckOutcome;
use super::facts_that_were_read::{Facts, list_at_pointer, text_at_pointer};
use super::names_of_our_objects::NAME;
use super::what_is_read::{DEPLOYMENTS, ENDPOINT_SLICES, LEASES, POD_LABELS, PODS, SERVICES};
use crate::certificates::days_since_epoch;
use serde_json::Value;
use std::collections::BTreeSet;

fn number(value: &Value, pointer: &str, default: u64) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or(default)
}

fn describe_replicas(facts: &Facts) -> String {
    format!(
        "Run kubectl -n {0} describe pods -l app.kubernetes.io/name={NAME}, and kubectl -n {0} logs deployment/{NAME}.",
        facts.namespace
    )
}

pub(super) fn check_deployment_is_ready(facts: &Facts) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    let namespace = &facts.namespace;
    let Some(found) = facts.object_by_name_or_skip(&DEPLOYMENTS, NAME)? else {
        return Ok(DoctorCheckOutcome::error(
            format!("Deployment {namespace}/{NAME} does not exist"),
            "Install it (deploy/README.md). If it is in another namespace, set --namespace.",
        ));
    };
    let (wanted, ready) = (number(found, "/spec/replicas", 1), number(found, "/status/readyReplicas", 0));
    let shown = format!("{ready} of {wanted} replicas are ready");
    Ok(match (ready, wanted) {
        (0, _) => DoctorCheckOutcome::error(
            format!("{shown}: no replica answers the API server"),
            describe_replicas(facts),
        ),
        (ready, wanted) if ready < wanted => DoctorCheckOutcome::warning(shown, describe_replicas(facts)),
        _ => DoctorCheckOutcome::success_with(shown),
    })
}

pub(super) fn check_service_selects_our_pods(
    facts: &Facts,
) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    let namespace = &facts.namespace;
    let hint = "Apply deploy/base/service.yaml, or run helm upgrade.";
    let Some(found) = facts.object_by_name_or_skip(&SERVICES, NAME)? else {
        return Ok(DoctorCheckOutcome::error(
            format!("Service {namespace}/{NAME} does not exist: the API server cannot call the server"),
            hint,
        ));
    };
    let selector = found.pointer("/spec/selector").and_then(Value::as_object);
    let strange = selector.into_iter().flatten().find(|(key, value)| {
        !POD_LABELS.iter().any(|(known, wanted)| key == known && value.as_str() == Some(wanted))
    });
    Ok(match strange {
        Some((key, value)) => DoctorCheckOutcome::warning(
            format!(
                "Service {namespace}/{NAME} selects pods by {key}={}, which this version does not set",
                text_at_pointer(value, "")
            ),
            hint,
        ),
        None => DoctorCheckOutcome::success(),
    })
}

pub(super) fn check_endpoints_are_ready(facts: &Facts) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    let slices = facts.objects_or_skip(&ENDPOINT_SLICES)?;
    let all = || slices.iter().flat_map(|slice| list_at_pointer(slice, "/endpoints"));
    // A missing condition means ready (k8s.io/api discovery/v1).
    let ready = all().filter(|e| e.pointer("/conditions/ready") != Some(&Value::Bool(false))).count();
    let known = all().count();
    Ok(if ready == 0 {
        DoctorCheckOutcome::error(
            format!(
                "Service {}/{NAME} has no ready endpoint: every call of the API server fails",
                facts.namespace
            ),
            describe_replicas(facts),
        )
    } else {
        DoctorCheckOutcome::success_with(format!("{ready} of {known} ready"))
    })
}

/// The tag of an image; empty for one by digest only.
fn image_tag(image: &str) -> &str {
    let named = image.split('@').next().unwrap_or_default();
    let last = named.rsplit('/').next().unwrap_or_default();
    last.split_once(':').map(|(_, tag)| tag).unwrap_or_default()
}

pub(super) fn check_replicas_run_one_image(facts: &Facts) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    let pods = facts.objects_or_skip(&PODS)?;
    let running = pods.iter().filter(|pod| pod.pointer("/metadata/deletionTimestamp").is_none());
    let images: BTreeSet<&str> = running
        .flat_map(|pod| {
            list_at_pointer(pod, "/spec/containers").iter().filter(|c| text_at_pointer(c, "/name") == NAME)
        })
        .map(|container| text_at_pointer(container, "/image"))
        .collect();
    let shown = images.iter().copied().collect::<Vec<_>>().join(", ");
    if images.len() > 1 {
        return Ok(DoctorCheckOutcome::warning(
            format!(
                "replicas run different images ({shown}): they may decide differently about the same pod"
            ),
            format!(
                "Wait until the roll-out ends: kubectl -n {} rollout status deployment/{NAME}",
                facts.namespace
            ),
        ));
    }
    let Some(image) = images.first() else {
        return Err(DoctorCheckOutcome::skipped("no pod of the server exists"));
    };
    let tag = image_tag(image).trim_start_matches('v');
    let is_version = tag.starts_with(|c: char| c.is_ascii_digit());
    Ok(if is_version && tag != facts.version {
        DoctorCheckOutcome::warning(
            format!("the server is version {tag}, and this program is version {}", facts.version),
            format!("Run doctor of version {tag}, because checks and hints differ between versions."),
        )
    } else {
        DoctorCheckOutcome::success_with(shown)
    })
}

/// Seconds since 1970 of a time as Kubernetes writes it, such as `2026-01-31T12:00:00.123456Z`.
fn seconds(time: &str) -> Option<i64> {
    let part = |from: usize, to: usize| time.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (part(0, 4)?, part(5, 7)?, part(8, 10)?);
    let (hour, minute, second) = (part(11, 13)?, part(14, 16)?, part(17, 19)?);
    if !time.ends_with('Z') || !(1..=12).contains(&month) {
        return None;
    }
    let days = days_since_epoch(year, month, day);
    Some(days * 86_400 + hour * 3600 + minute * 60 + second)
}

/// Difference that no delay explains (s).
const SKEW: i64 = 60;

pub(super) fn check_clock_of_server(facts: &Facts) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    let lease = facts.object_by_name_or_skip(&LEASES, "fabric-admission-status")?;
    let renewed = lease.and_then(|lease| seconds(text_at_pointer(lease, "/spec/renewTime")));
    let (Some(renewed), Some(now)) = (renewed, facts.api_clock) else {
        return Err(DoctorCheckOutcome::skipped(
            "no replica renews the Lease fabric-admission-status, so the clock of the server is not known",
        ));
    };
    let ahead = renewed - now;
    let duration = lease.and_then(|lease| lease.pointer("/spec/leaseDurationSeconds")?.as_i64());
    // Nobody renews it any more, or a clock is far behind: the times do not tell which.
    if duration.is_some_and(|duration| -ahead > duration + SKEW) {
        return Err(DoctorCheckOutcome::skipped(format!(
            "the last renewal of the Lease fabric-admission-status is {} s old, so the clock of the server is not known",
            -ahead
        )));
    }
    Ok(if ahead > SKEW {
        DoctorCheckOutcome::warning(
            format!(
                "the clock of the replica {} is {ahead} s ahead of the API server's: new certificates may not be valid yet",
                lease.map(|lease| text_at_pointer(lease, "/spec/holderIdentity")).unwrap_or_default()
            ),
            "Synchronize the clock of the replica's node, for example with chrony.",
        )
    } else {
        DoctorCheckOutcome::success()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_tags() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2000-02-29T23:59:59.000001Z", Some(951_868_799)),
            ("2026-01-15T08:00:00Z", Some(1_768_464_000)),
            ("2026-13-15T08:00:00Z", None),
            ("2026-01-15", None),
            ("", None),
        ] {
            assert_eq!(seconds(text), expected, "{text}");
        }
        for (image, expected) in [
            ("ghcr.io/x/y:0.1.0", "0.1.0"),
            ("host:5000/y", ""),
            ("host:5000/y:v1@sha256:00", "v1"),
            ("y@sha256:00", ""),
        ] {
            assert_eq!(image_tag(image), expected, "{image}");
        }
    }
}
