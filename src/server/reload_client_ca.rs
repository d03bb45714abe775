//! The CA of clients while the server runs: its file is checked for changes.

use super::{State, task_supervisor};
use crate::tls::Clients;
use std::sync::Arc;

/// Checks the file until aborted.
pub(super) async fn reload(clients: Arc<Clients>, state: Arc<State>) {
    let every = clients.poll();
    let mut failing = false;
    loop {
        tokio::time::sleep(every).await;
        let looking = Arc::clone(&clients);
        match task_supervisor::blocking(move || looking.refresh()).await {
            None => {}
            Some(Ok(changed)) => {
                failing = false;
                if changed {
                    state.metrics.count_client_ca_reload(true);
                    tracing::info!("client CA reloaded; open connections stay open");
                }
            }
            Some(Err(error)) => {
                state.metrics.count_client_ca_reload(false);
                // Logged once, not at every check.
                if !failing {
                    tracing::error!(%error, "client CA reload failed; the previous CA stays in use");
                }
                failing = true;
            }
        }
    }
}
