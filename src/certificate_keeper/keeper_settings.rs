//! Settings of the keeper.

use super::Clock;
use crate::certificates::Lifetimes;
use crate::cluster::secret_and_webhook_configurations::CertificateObjectNames;
use std::path::PathBuf;

/// The issuer of the certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CertificateIssuer {
    /// This server, with its own CA.
    SelfManaged,
    /// cert-manager: the server reads the Secret and writes nothing.
    CertManager,
}

/// Settings of the certificate task.
#[derive(Clone)]
pub struct Settings {
    /// Client of the API server.
    pub client: kube::Client,
    /// The issuer of the certificate.
    pub mode: CertificateIssuer,
    /// The objects.
    pub names: CertificateObjectNames,
    /// Names and addresses in our certificate.
    pub hosts: Vec<String>,
    /// Lifetimes and waits.
    pub lives: Lifetimes,
    /// The clock.
    pub clock: Clock,
    /// The file of `--tls-ca-out`.
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
