//! Certificates from a Secret of the cluster, issued by this server (`--tls-mode self-managed`) or by cert-manager. One
//! task reads the Secret and the webhook configurations, does at most one write, and reads again; `crate::certificates`
//! decides which. A handshake only loads a pointer. Decisions without input and output belong to `certificates`;
//! certificates from files, to `server::reload_certificate`.

mod across_restarts;
mod back_off;
mod ca_file;
mod clock;
mod configuration_state;
mod events;
mod expiry;
mod issue;
#[cfg(test)]
mod keeper_tests;
mod metrics;
mod own_port;
mod readiness;
mod round;
mod self_check;
mod settings;
mod verify;

pub(crate) use across_restarts::KeptMemory;
pub use clock::Clock;
pub(crate) use expiry::Expiry;
pub use metrics::Metrics;
pub(crate) use own_port::Port;
pub(crate) use readiness::CertificateReadiness;
pub use self_check::{Silence, chain as served_chain};
pub use settings::{Mode, Settings};
pub use verify::chain as verify_chain;

use crate::cluster::certificate_objects::Objects;
use crate::tls::Served;
use back_off::{BackOff, GATHER};
use round::Keeper;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// Keeps the certificate valid and trusted until dropped. `port` is our own port, for handshakes that show what it serves.
pub(crate) async fn run(
    settings: Settings,
    port: Option<Port>,
    served: Arc<Served>,
    standing: CertificateReadiness,
    metrics: Arc<Metrics>,
    kept: KeptMemory,
) {
    let tick = Duration::from_secs(settings.lives.tick.unsigned_abs());
    let objects = Objects { client: settings.client.clone(), names: settings.names.clone() };
    let changed = Notify::new();
    let following = objects.clone();
    let mut keeper = Keeper::new(objects, settings, port, served, standing, metrics, kept);
    let keep = async {
        let mut back_off = BackOff::default();
        loop {
            let again = keeper.round().await;
            let pause = back_off.after(again, tick);
            if pause.is_back_off {
                keeper.record_back_off();
            }
            // A missing answer bypasses the back-off.
            let soon = keeper.redial().filter(|_| !pause.is_back_off);
            let length = soon.map_or(pause.length, |soon| pause.length.min(soon));
            tokio::select! {
                () = changed.notified(), if pause.listens => tokio::time::sleep(GATHER).await,
                () = tokio::time::sleep(length) => {}
            }
        }
    };
    tokio::select! { () = keep => {}, () = following.follow(&changed) => {} }
}
