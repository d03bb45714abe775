//! The certificate from files while the server runs: reloaded when it changes, and checked for its dates.

use super::State;
use crate::keeper::{Clock, Standing};
use crate::tls::Store;
use std::sync::Arc;
use std::time::Duration;

/// Updates the standing of the certificate in use, by its dates only: this mode knows no caBundle.
pub(super) fn judge(store: &Store, standing: &Standing) {
    let (problem, remark) = store.dates(Clock::default().now());
    let text = problem.as_ref().or(remark.as_ref()).cloned();
    if standing.set(problem.into_iter().collect(), remark.into_iter().collect())
        && let Some(text) = text
    {
        tracing::warn!("{text}");
    }
}

/// Checks the files until aborted.
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
                    tracing::error!(%error, "certificate reload failed; keeping the previous certificate");
                }
                failing = true;
            }
            Err(error) => tracing::error!(%error, "certificate check failed"),
        }
    }
}
