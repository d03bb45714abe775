//! `--wait`: which checks are repeated, and the pauses between two tries.

use super::read_facts_and_send_dry_runs::FactsReadSoFar;
use crate::doctor::doctor_report::Report;
use kube::Client;
use std::io::Write;
use std::time::{Duration, Instant};

/// Before the second try; each further pause is twice as long.
const PAUSE: Duration = Duration::from_secs(1);
/// Longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Reads and checks until no check is worth waiting for, or the time is over. A further try reads only what the failed
/// checks need: a cluster may have 130,000 nodes. When these checks succeed, everything is read once more.
pub(super) async fn check_until_ok_or_time_over(
    client: &Client,
    (pre, namespace): (bool, Option<&str>),
    limit: Duration,
    err: &mut dyn Write,
) -> Result<Report, String> {
    let began = Instant::now();
    let mut pause = PAUSE;
    let mut waiting: Vec<&'static str> = Vec::new();
    let mut read: Option<FactsReadSoFar> = None;
    loop {
        let tried = match &mut read {
            Some(reading) if !waiting.is_empty() => {
                reading.read_again_for_failed_checks(client, &waiting).await;
                Ok(())
            }
            _ => FactsReadSoFar::read_everything_and_send_dry_runs(client, pre, namespace)
                .await
                .map(|reading| read = Some(reading)),
        };
        match (tried, &read) {
            (Ok(()), Some(reading)) => {
                let report = Report::run_checks(&reading.facts, pre);
                let failed: Vec<&'static str> =
                    report.failed_retryable_checks().map(|check| check.id).collect();
                let is_whole = waiting.is_empty();
                if failed.is_empty() && is_whole || began.elapsed() >= limit {
                    return Ok(report);
                }
                if !failed.is_empty() && failed != waiting {
                    writeln!(err, "waiting for: {}", failed.join(", ")).map_err(|error| error.to_string())?;
                }
                waiting = failed;
                if waiting.is_empty() {
                    continue;
                }
            }
            (Err(error), _) if began.elapsed() >= limit => return Err(error),
            _ => {}
        }
        tokio::time::sleep(pause.min(limit.saturating_sub(began.elapsed()))).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
