//! A task that dies of a bug comes back. The bug may be the same in all replicas, at the same time, while the certificates
//! that they serve are good for days: so its death alone makes none unready.

use super::metrics::Metrics;
use super::{Clock, Standing};
use crate::certificates::{Lives, fields};
use crate::tls::Served;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Longest pause before a task is started again, and how long one must live for its death to be the first again.
const LONGEST: Duration = Duration::from_secs(300);
const DIED: &str = "certificate task died (a bug); restarting it";
const OVER: &str = "the certificate has expired or is about to, and the certificate task died (a bug); restart the pod and report its log";

/// The certificate that is served while nobody looks after it.
pub(crate) struct Orphan {
    pub(crate) served: Arc<Served>,
    pub(crate) clock: Clock,
    /// Where it is renewed by ourselves.
    pub(crate) lives: Option<Lives>,
}

impl Orphan {
    /// Whether it may have expired by the clock of some machine.
    fn is_over(&self) -> bool {
        let Some(served) = self.served.load() else { return true };
        let Some(leaf) = served.cert.first().and_then(|der| fields(der)) else { return false };
        let now = self.clock.now();
        let early = self.lives.map_or(0, |lives| lives.ending(leaf.until - leaf.from));
        now < leaf.from || now >= leaf.until - early
    }

    /// Updates the standing: the result of the last check, and the dates.
    fn tell(&self, standing: &Standing, problems: &[String], remarks: &[String]) {
        let over = self.is_over().then(|| OVER.to_owned());
        let problems = problems.iter().cloned().chain(over).collect();
        standing.set(problems, remarks.iter().cloned().chain([DIED.to_owned()]).collect());
    }
}

fn longer(pause: Duration) -> Duration {
    (pause * 2).min(LONGEST.max(pause))
}

/// Runs a task that does not end by itself; where it dies, says so and starts it again after a pause, which doubles with
/// each death. Where the certificate is nearly over by then, turns not ready. The task says itself when all is well again.
pub(crate) async fn restarted<F>(
    standing: Standing,
    metrics: Arc<Metrics>,
    tick: Duration,
    orphan: Orphan,
    start: impl Fn() -> F,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let mut pause = tick;
    loop {
        let began = Instant::now();
        let mut task = JoinSet::new();
        task.spawn(start());
        match task.join_next().await {
            Some(Err(error)) if error.is_panic() => {
                tracing::error!(%error, "{DIED}");
            }
            _ => return,
        }
        metrics.certificate_call_failed("task");
        if began.elapsed() >= LONGEST {
            pause = tick;
        }
        let (mut problems, mut remarks) = standing.lines();
        problems.retain(|line| line != OVER);
        remarks.retain(|line| line != DIED);
        let until = Instant::now() + pause;
        loop {
            orphan.tell(&standing, &problems, &remarks);
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            tokio::time::sleep(left.min(tick)).await;
        }
        pause = longer(pause);
    }
}

#[cfg(test)]
mod tests {
    use super::super::issue;
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn orphan(clock: Clock) -> Orphan {
        let (served, lives, now) = (Arc::<Served>::default(), Lives::default(), Clock::default().now());
        let signer = issue::authority(now, &lives).unwrap();
        served.serve(issue::leaf(&signer, &["x".to_owned()], now, 0, &lives).unwrap().0);
        Orphan { served, clock, lives: Some(lives) }
    }

    async fn until(what: impl Fn() -> bool) {
        let seen = async {
            while !what() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), seen).await.unwrap();
    }

    /// Whether the task finds all well before it dies, or nothing.
    async fn dies(ready: bool, offset: i64) -> (Vec<String>, Vec<String>) {
        let file = std::env::temp_dir().join(format!("orphan-{}-{ready}-{offset}", std::process::id()));
        std::fs::write(&file, offset.to_string()).unwrap();
        let (standing, starts) = (Standing::waiting(), Arc::new(AtomicU32::new(0)));
        let (keeping, counting) = (standing.clone(), Arc::clone(&starts));
        let start = move || {
            let (standing, starts) = (keeping.clone(), Arc::clone(&counting));
            async move {
                if ready {
                    standing.set(Vec::new(), Vec::new());
                }
                starts.fetch_add(1, Ordering::SeqCst);
                panic!("a bug");
            }
        };
        let metrics = Arc::new(Metrics::default());
        let orphan = orphan(Clock { offset: Some(file.clone()) });
        let tick = Duration::from_millis(20);
        let task = tokio::spawn(restarted(standing.clone(), Arc::clone(&metrics), tick, orphan, start));
        until(|| metrics.text().contains("certificate_failures_total{call=\"task\"} 3")).await;
        assert_eq!(starts.load(Ordering::SeqCst), 3);
        task.abort();
        std::fs::remove_file(file).unwrap();
        standing.lines()
    }

    #[tokio::test]
    async fn a_task_that_dies_is_told_and_its_certificate_serves_on() {
        let died = vec![DIED.to_owned()];
        assert_eq!(dies(true, 0).await, (Vec::new(), died.clone()));
        assert_eq!(dies(true, 71 * 3600).await, (Vec::new(), died.clone()));
        assert_eq!(dies(true, 72 * 3600 - 1000).await, (vec![OVER.to_owned()], died.clone()));
        assert_eq!(dies(true, -3600).await, (vec![OVER.to_owned()], died.clone()));
        // What was not ready before is not made so by a death.
        assert_eq!(dies(false, 0).await, (Standing::waiting().lines().0, died));
    }

    #[tokio::test]
    async fn a_task_that_comes_back_says_how_it_is() {
        let (standing, starts) = (Standing::default(), Arc::new(AtomicU32::new(0)));
        let (keeping, counting) = (standing.clone(), Arc::clone(&starts));
        let start = move || {
            let (standing, starts) = (keeping.clone(), Arc::clone(&counting));
            async move {
                if starts.fetch_add(1, Ordering::SeqCst) > 0 {
                    standing.set(Vec::new(), Vec::new());
                    std::future::pending::<()>().await;
                }
                panic!("a bug");
            }
        };
        let tick = Duration::from_millis(200);
        let metrics = Arc::new(Metrics::default());
        let task = tokio::spawn(restarted(standing.clone(), metrics, tick, orphan(Clock::default()), start));
        until(|| !standing.lines().1.is_empty()).await;
        until(|| standing.lines().1.is_empty()).await;
        assert_eq!(starts.load(Ordering::SeqCst), 2);
        task.abort();
    }

    #[test]
    fn pauses_double_and_end_at_five_minutes() {
        let mut pause = Duration::from_secs(10);
        let seconds = std::iter::repeat_with(|| {
            pause = longer(pause);
            pause.as_secs()
        });
        assert_eq!(seconds.take(6).collect::<Vec<_>>(), [20, 40, 80, 160, 300, 300]);
        assert_eq!(longer(Duration::from_secs(600)), Duration::from_secs(600));
    }
}
