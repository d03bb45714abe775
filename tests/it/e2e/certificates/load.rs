//! Creates at a steady rate while something happens to certificates: each must get its networks from `mutate` and pass
//! `enforce`. `mutate` is ignored where it cannot be called, so the API server's own count of that is read as well.

use super::super::support::creates::Creator;
use super::super::support::plane::Plane;
use super::super::support::site::training_pod;
use super::site::Site;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const WORKERS: usize = 4;

/// What came of it.
#[derive(Debug)]
pub(super) struct Load {
    pub(super) calls: usize,
    pub(super) failures: Vec<String>,
    pub(super) slowest: Duration,
    /// From the first failed call to the first that went well again.
    pub(super) gap: Duration,
}

impl Load {
    /// That no create failed.
    pub(super) fn clean(&self, what: &str) -> Result<(), String> {
        match self.failures.first() {
            None => Ok(()),
            Some(first) => {
                let (failed, all) = (self.failures.len(), self.calls);
                eprintln!("{what}: {first}");
                Err(format!("{what}: {failed} of {all} creates failed, over {:?}: {first}", self.gap))
            }
        }
    }
}

/// Calls of our webhooks that the API server could not make.
pub(super) fn failed_calls(plane: &Plane) -> Result<u64, String> {
    let text = plane.kubectl(&["get", "--raw", "/metrics"], "")?.stdout;
    let failed = |line: &&str| {
        line.contains("fabric-admission.dev")
            && (line.starts_with("apiserver_admission_webhook_fail_open_count")
                || (line.starts_with("apiserver_admission_webhook_rejection_count")
                    && line.contains("calling_webhook_error")))
    };
    Ok(text.lines().filter(failed).filter_map(|l| l.rsplit(' ').next()?.parse::<u64>().ok()).sum())
}

/// Creates `rate` pods a second until `story` ends; what it gives and what came of the creates.
pub(super) fn under_load<T>(
    site: &Site<'_>,
    rate: usize,
    story: impl FnOnce() -> Result<T, String>,
) -> Result<(T, Load), String> {
    let over = AtomicBool::new(false);
    let (next, start) = (AtomicUsize::new(0), Instant::now());
    let worker = || {
        let mut creator = Creator::new(site.plane);
        let mut done = Vec::new();
        while !over.load(Ordering::SeqCst) {
            let nth = next.fetch_add(1, Ordering::SeqCst);
            let due = start
                + Duration::from_secs(1) * u32::try_from(nth).unwrap_or(0) / u32::try_from(rate).unwrap_or(1);
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            let began = Instant::now();
            let outcome = match creator.create(&site.namespace, &training_pod("load")) {
                Ok(Ok(pod)) if pod.to_string().contains("rail7") => Ok(()),
                Ok(Ok(_)) => Err("let in without its networks".to_owned()),
                Ok(Err(error)) | Err(error) => Err(error),
            };
            done.push((began, began.elapsed(), outcome));
        }
        done
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(worker)).collect();
        let reported = story();
        over.store(true, Ordering::SeqCst);
        let mut all = Vec::new();
        for worker in workers {
            all.extend(worker.join().map_err(|_| "a worker panicked")?);
        }
        all.sort_by_key(|(began, _, _)| *began);
        let slowest = all.iter().map(|(_, took, _)| *took).max().unwrap_or_default();
        let failed: Vec<Instant> =
            all.iter().filter(|(_, _, o)| o.is_err()).map(|(began, _, _)| *began).collect();
        let gap = match (failed.first(), failed.last()) {
            (Some(first), Some(last)) => *last - *first,
            _ => Duration::ZERO,
        };
        let calls = all.len();
        let failures = all.into_iter().filter_map(|(_, _, outcome)| outcome.err()).collect();
        Ok((reported?, Load { calls, failures, slowest, gap }))
    })
}
