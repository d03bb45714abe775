//! The certificate of the files while the server runs: looked at again, and judged by its dates.

use super::State;
use crate::keeper::{Clock, Standing};
use crate::tls::Store;
use std::sync::Arc;
use std::time::Duration;

/// Says how the certificate in use stands. Its dates alone: no caBundle is known here.
pub(super) fn judge(store: &Store, standing: &Standing) {
    let (problem, remark) = store.dates(Clock::default().now());
    let told = problem.as_ref().or(remark.as_ref()).cloned();
    if standing.set(problem.into_iter().collect(), remark.into_iter().collect())
        && let Some(text) = told
    {
        tracing::warn!("{text}");
    }
}

/// Looks at the files for ever.
pub(super) async fn reload(store: Arc<Store>, every: Duration, state: Arc<State>) {
    let mut failing = false;
    loop {
        judge(&store, &state.certificates);
        tokio::time::sleep(every).await;
        let looking = Arc::clone(&store);
        let outcome = tokio::task::spawn_blocking(move || looking.refresh()).await;
        match outcome {
            Ok(Ok(false)) => failing = false,
            Ok(Ok(true)) => {
                failing = false;
                state.metrics.certificates().certificate_loaded();
                state.metrics.certificates().leaf_expiry(store.until());
                tracing::info!("certificate reloaded");
            }
            Ok(Err(error)) => {
                state.metrics.certificates().certificate_failed();
                // Once, not every few seconds.
                if !failing {
                    tracing::error!(%error, "certificate cannot be reloaded; the last good one stays in use");
                }
                failing = true;
            }
            Err(error) => tracing::error!(%error, "certificate check ended early"),
        }
    }
}
