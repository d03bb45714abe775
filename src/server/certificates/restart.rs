//! A task that dies of a bug comes back. A process whose certificate nobody keeps any more would stay ready until the
//! certificate is over.

use super::Standing;
use crate::server::Metrics;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// Runs a task that does not end by itself; where it dies, says so, turns not ready and starts it again after a pause.
/// The task says itself when all is well again.
pub(in crate::server) async fn restarted<F>(
    standing: Standing,
    metrics: Arc<Metrics>,
    pause: Duration,
    start: impl Fn() -> F,
) where
    F: Future<Output = ()> + Send + 'static,
{
    loop {
        let mut task = JoinSet::new();
        task.spawn(start());
        match task.join_next().await {
            Some(Err(error)) if error.is_panic() => {
                tracing::error!(%error, "the task that keeps the certificate died of a bug; it is started again");
            }
            _ => return,
        }
        metrics.certificate_call_failed("task");
        let text = "the task that keeps the certificate died of a bug; it is started again";
        standing.set(vec![text.to_owned()], Vec::new());
        tokio::time::sleep(pause).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[tokio::test]
    async fn a_task_that_dies_is_told_and_comes_back() {
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
        let metrics = Arc::new(Metrics::new());
        let pause = Duration::from_millis(200);
        let task = tokio::spawn(restarted(standing.clone(), Arc::clone(&metrics), pause, start));
        let until = async |ready: bool| {
            while standing.lines().0.is_empty() != ready || starts.load(Ordering::SeqCst) == 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), until(false)).await.unwrap();
        assert!(standing.lines().0[0].contains("died of a bug"));
        tokio::time::timeout(Duration::from_secs(10), until(true)).await.unwrap();
        assert_eq!(starts.load(Ordering::SeqCst), 2);
        assert!(metrics.text().contains("certificate_failures_total{call=\"task\"} 1"));
        task.abort();
    }
}
