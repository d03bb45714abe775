//! What the server serves, and whether the API server would trust it. The verification itself was made by the TLS
//! library where the certificates were read.

use super::check_outcome::DoctorCheckOutcome;
use super::facts_that_were_read::{Facts, text_at_pointer};
use super::names_of_our_objects::NAME;
use super::webhook_configurations::our_webhooks;
use crate::text::count_with_noun;

const DAY: i64 = 86_400;

pub(super) fn check_ca_bundles_trust_server(facts: &Facts) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    let hint = format!(
        "Read /readyz of the server: it names the reason. In mode self-managed the server restores the caBundle within \
         30 s; exclude /webhooks/*/clientConfig/caBundle from tools that apply these objects. certs/README.md has the \
         other modes. Log: kubectl -n {} logs deployment/{NAME}",
        facts.namespace
    );
    let found = our_webhooks(facts)?;
    if found.is_empty() {
        return Err(DoctorCheckOutcome::skipped("no webhook configuration exists"));
    }
    let empty: Vec<String> = found
        .iter()
        .filter(|webhook| text_at_pointer(webhook, "/clientConfig/caBundle").is_empty())
        .map(|webhook| {
            format!(
                "webhook {} has no caBundle: the API server does not trust the server",
                text_at_pointer(webhook, "/name")
            )
        })
        .collect();
    if !empty.is_empty() {
        return Ok(DoctorCheckOutcome::error_if_any(&empty, hint));
    }
    let mut problems = Vec::new();
    for certificate in &facts.certificates {
        for (webhook, why) in &certificate.trust {
            if let Some(why) = why {
                problems.push(format!("{}, webhook {webhook}: {why}", certificate.owner));
            }
        }
    }
    if !problems.is_empty() {
        return Ok(DoctorCheckOutcome::error_if_any(&problems, hint));
    }
    let reached = facts.replicas.iter().filter(|replica| replica.unreached.is_none()).count();
    let silent: Vec<String> = facts
        .replicas
        .iter()
        .filter_map(|replica| {
            Some(format!("replica {} did not answer: {}", replica.address, replica.unreached.as_ref()?))
        })
        .collect();
    if reached > 0 && !silent.is_empty() {
        return Ok(DoctorCheckOutcome::warning_if_any(
            &silent,
            format!(
                "Other replicas answered, so this machine reaches the pods. Look at these pods: kubectl -n {} get pods -o wide, \
                 and their logs.",
                facts.namespace
            ),
        ));
    }
    if reached > 0 {
        return Ok(DoctorCheckOutcome::success_with(format!(
            "{} of {} answered",
            reached,
            count_with_noun(facts.replicas.len(), "replica")
        )));
    }
    let why = match facts.replicas.first() {
        None => "no replica is known".to_owned(),
        Some(replica) => format!(
            "no replica can be reached from this machine ({}: {})",
            replica.address,
            replica.unreached.as_deref().unwrap_or_default()
        ),
    };
    Ok(match facts.certificates.first() {
        Some(kept) => DoctorCheckOutcome::success_with(format!("{} is trusted; {why}", kept.owner)),
        None => DoctorCheckOutcome::skipped_with(
            format!("{why}, and no Secret with a certificate could be read"),
            format!(
                "Give this account the right to get secrets in namespace {}, or run doctor in the cluster.",
                facts.namespace
            ),
        ),
    })
}

pub(super) fn check_certificates_are_renewed(
    facts: &Facts,
) -> Result<DoctorCheckOutcome, DoctorCheckOutcome> {
    let mut problems = Vec::new();
    let mut first: Option<i64> = None;
    for certificate in &facts.certificates {
        let left = certificate.until - facts.now;
        // Renewal is due after two thirds of the life: in the last tenth it has failed.
        if left < (certificate.until - certificate.from) / 10 {
            problems.push(if left <= 0 {
                format!("the certificate of {} has expired", certificate.owner)
            } else {
                format!(
                    "the certificate of {} expires in {} h, and was not renewed",
                    certificate.owner,
                    left / 3600
                )
            });
        }
        first = Some(first.map_or(left, |known| known.min(left)));
    }
    let Some(first) = first else { return Err(DoctorCheckOutcome::skipped("no certificate is known")) };
    if problems.is_empty() {
        let shown = if first >= 2 * DAY {
            count_with_noun(days(first), "day")
        } else {
            format!("{} h", first / 3600)
        };
        return Ok(DoctorCheckOutcome::success_with(format!("the first one expires in {shown}")));
    }
    Ok(DoctorCheckOutcome::warning_if_any(
        &problems,
        format!("Read the log for the reason: kubectl -n {} logs deployment/{NAME}", facts.namespace),
    ))
}

fn days(seconds: i64) -> usize {
    usize::try_from(seconds / DAY).unwrap_or(0)
}
