//! Certificates out of the cluster: made by ourselves (`--tls-mode self-managed`), or by cert-manager. One task looks at
//! the Secret and the configurations, does at most one write, and looks again; what to do is `crate::certificates`'s.
//! Handshakes only ever load a pointer.

mod brake;
mod ca_out;
mod clock;
mod dial;
mod events;
mod issue;
mod keeper;
#[cfg(test)]
mod keeper_tests;
mod kept;
mod restart;
mod sight;
mod standing;
mod verify;

pub use clock::Clock;
pub(super) use kept::Kept;
pub(super) use restart::{Orphan, restarted};
pub(crate) use standing::Standing;

use super::Metrics;
use super::tls::Served;
use crate::certificates::Lives;
use crate::cluster::own::{Names, Objects};
use brake::{Brake, GATHER};
use keeper::Keeper;
pub(super) use keeper::Port;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// Who makes the certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// We do, with a CA of our own.
    SelfManaged,
    /// cert-manager: the Secret is read, and nothing is written.
    CertManager,
}

/// What is to be known for it.
#[derive(Clone)]
pub struct Settings {
    /// Client of the API server.
    pub client: kube::Client,
    /// Who makes the certificate.
    pub mode: Mode,
    /// The objects.
    pub names: Names,
    /// Names and addresses that a certificate of ours is for.
    pub hosts: Vec<String>,
    /// How long everything lasts.
    pub lives: Lives,
    /// The clock.
    pub clock: Clock,
    /// Where the CAs to trust are written as well.
    pub ca_out: Option<PathBuf>,
    /// Name of this replica among the others.
    pub identity: String,
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings")
            .field("mode", &self.mode)
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}

/// Keeps the certificate until dropped. `port` is our own, where a handshake with it says what it serves.
pub(super) async fn run(
    settings: Settings,
    port: Option<Port>,
    served: Arc<Served>,
    standing: Standing,
    metrics: Arc<Metrics>,
    kept: Kept,
) {
    let tick = Duration::from_secs(settings.lives.tick.unsigned_abs());
    let objects = Objects { client: settings.client.clone(), names: settings.names.clone() };
    let changed = Notify::new();
    let following = objects.clone();
    let mut keeper = Keeper::new(objects, settings, port, served, standing, metrics, kept);
    let keep = async {
        let mut brake = Brake::default();
        loop {
            let again = keeper.round().await;
            let pause = brake.after(again, tick);
            if pause.brakes {
                keeper.braked();
            }
            // Not by way of the brake: an answer that is missing is no write that brought no rest.
            let soon = keeper.redial().filter(|_| !pause.brakes);
            let length = soon.map_or(pause.length, |soon| pause.length.min(soon));
            tokio::select! {
                () = changed.notified(), if pause.listens => tokio::time::sleep(GATHER).await,
                () = tokio::time::sleep(length) => {}
            }
        }
    };
    tokio::select! { () = keep => {}, () = following.follow(&changed) => {} }
}
