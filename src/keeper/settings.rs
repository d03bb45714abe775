//! Settings of the keeper.

use super::Clock;
use crate::certificates::Lives;
use crate::cluster::certificate_objects::Names;
use std::path::PathBuf;

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
    /// Names and addresses in our certificate.
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
