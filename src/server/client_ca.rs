//! The CA of clients while the server runs: its file is looked at again.

use super::State;
use crate::tls::Clients;
use std::sync::Arc;

/// Looks at the file for ever.
pub(super) async fn reload(clients: Arc<Clients>, state: Arc<State>) {
    let every = clients.poll();
    let mut failing = false;
    loop {
        tokio::time::sleep(every).await;
        let looking = Arc::clone(&clients);
        match tokio::task::spawn_blocking(move || looking.refresh()).await {
            Ok(Ok(changed)) => {
                failing = false;
                if changed {
                    state.metrics.client_ca_loaded(true);
                    tracing::info!("client CA reloaded; open connections stay");
                }
            }
            Ok(Err(error)) => {
                state.metrics.client_ca_loaded(false);
                // Once, not every few seconds.
                if !failing {
                    tracing::error!(%error, "client CA cannot be reloaded; the last good one counts on");
                }
                failing = true;
            }
            Err(error) => tracing::error!(%error, "client CA check ended early"),
        }
    }
}
