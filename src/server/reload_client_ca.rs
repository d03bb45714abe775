//! The CA of clients while the server runs: its file is checked for changes.

use super::{State, task_supervisor};
use crate::tls::ClientVerifier;
use std::sync::Arc;

/// Checks the file until aborted.
pub(super) async fn reload_changed_file_until_aborted(clients: Arc<ClientVerifier>, state: Arc<State>) {
    let every = clients.check_interval();
    let mut failing = false;
    loop {
        tokio::time::sleep(every).await;
        let looking = Arc::clone(&clients);
        match task_supervisor::run_blocking_and_pass_on_panic(move || looking.reload_if_file_changed()).await
        {
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
