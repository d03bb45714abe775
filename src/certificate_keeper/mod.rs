//! Certificates from a Secret of the cluster, issued by this server (`--tls-mode self-managed`) or by cert-manager. One
//! task reads the Secret and the webhook configurations, does at most one write, and reads again; `crate::certificates`
//! decides which. A handshake only loads a pointer. Decisions without input and output belong to `certificates`;
//! certificates from files, to `server::certificate_source_and_file_reload`.

mod ca_out_file;
mod certificate_lines_of_readyz;
mod certificate_metrics;
mod clock;
mod does_ca_bundle_trust;
mod issue_certificates;
mod keeper_settings;
#[cfg(test)]
mod keeper_tests;
mod kubernetes_events;
mod memory_across_restarts_of_task;
mod own_port_answers_that_end_readiness;
mod own_port_handshake;
mod pause_between_rounds;
mod problems_of_webhook_configuration;
mod readiness_while_task_is_down;
mod round;

pub(crate) use certificate_lines_of_readyz::CertificateReadiness;
pub use certificate_metrics::Metrics;
pub use clock::Clock;
pub use does_ca_bundle_trust::verify_chain_with_ca_bundle as verify_chain;
pub use keeper_settings::{CertificateIssuer, Settings};
pub(crate) use memory_across_restarts_of_task::KeptMemory;
pub(crate) use own_port_answers_that_end_readiness::OwnPort;
pub use own_port_handshake::{HandshakeFailure, fetch_served_chain as served_chain};
pub(crate) use readiness_while_task_is_down::DatesOfServedCertificate;

use crate::cluster::secret_and_webhook_configurations::CertificateObjects;
use crate::tls::ServedCertificate;
use pause_between_rounds::{MIN_TIME_BETWEEN_CHECKS, RoundsWithoutConvergence};
use round::Keeper;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// Keeps the certificate valid and trusted until dropped. `port` is our own port, for handshakes that show what it serves.
pub(crate) async fn run(
    settings: Settings,
    port: Option<OwnPort>,
    served: Arc<ServedCertificate>,
    standing: CertificateReadiness,
    metrics: Arc<Metrics>,
    kept: KeptMemory,
) {
    let tick = Duration::from_secs(settings.lives.tick.unsigned_abs());
    let objects = CertificateObjects { client: settings.client.clone(), names: settings.names.clone() };
    let changed = Notify::new();
    let following = objects.clone();
    let mut keeper = Keeper::new(objects, settings, port, served, standing, metrics, kept);
    let keep = async {
        let mut back_off = RoundsWithoutConvergence::default();
        loop {
            let again = keeper.run_one_round().await;
            let pause = back_off.pause_after_round(again, tick);
            if pause.is_back_off {
                keeper.record_back_off_and_update_readiness();
            }
            // A missing answer bypasses the back-off.
            let soon = keeper.pause_before_recheck_of_own_port().filter(|_| !pause.is_back_off);
            let length = soon.map_or(pause.length, |soon| pause.length.min(soon));
            tokio::select! {
                () = changed.notified(), if pause.listens => tokio::time::sleep(MIN_TIME_BETWEEN_CHECKS).await,
                () = tokio::time::sleep(length) => {}
            }
        }
    };
    tokio::select! { () = keep => {}, () = following.signal_changes(&changed) => {} }
}
