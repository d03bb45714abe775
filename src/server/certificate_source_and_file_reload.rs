//! The certificate from files while the server runs: reloaded when it changes, and checked for its dates.

use super::{Certificate, State, task_supervisor};
use crate::certificate_keeper::{self, CertificateReadiness, Clock, DatesOfServedCertificate};
use crate::tls::{CertificateFiles, ServedCertificate, TlsError};
use std::sync::Arc;
use std::time::Duration;

/// Name of the task that renews or reloads the certificate.
pub(super) const TASK: &str = "certificates";

/// Where the certificate comes from, loaded and checked.
pub(super) enum CertificateSource {
    /// Files that are checked for changes.
    Files { store: Arc<CertificateFiles>, poll: Duration },
    /// A Secret of the cluster.
    Cluster { settings: Box<certificate_keeper::Settings>, served: Arc<ServedCertificate> },
}

impl CertificateSource {
    pub(super) fn load(certificate: Certificate) -> Result<Self, TlsError> {
        Ok(match certificate {
            Certificate::Files { cert, key, poll } => {
                Self::Files { store: Arc::new(CertificateFiles::load(&cert, &key)?), poll }
            }
            Certificate::Cluster(settings) => Self::Cluster { settings, served: Arc::default() },
        })
    }

    /// What handshakes use.
    pub(super) fn served(&self) -> Arc<ServedCertificate> {
        match self {
            Self::Files { store, .. } => store.served(),
            Self::Cluster { served, .. } => Arc::clone(served),
        }
    }

    /// The standing before the first check of the task.
    pub(super) fn initial_readiness(&self) -> CertificateReadiness {
        match self {
            Self::Files { store, .. } => {
                let standing = CertificateReadiness::default();
                update_readiness_by_dates(store, &standing);
                standing
            }
            Self::Cluster { .. } => CertificateReadiness::waiting(),
        }
    }

    pub(super) fn expiry(&self) -> DatesOfServedCertificate {
        let (clock, lives) = match self {
            Self::Files { .. } => (Clock::default(), None),
            Self::Cluster { settings, .. } => {
                let own = settings.mode == certificate_keeper::CertificateIssuer::SelfManaged;
                (settings.clock.clone(), own.then_some(settings.lives))
            }
        };
        DatesOfServedCertificate { served: self.served(), clock, lives }
    }
}

/// Updates the standing of the certificate in use, by its dates only: in this mode the server does not read caBundles.
pub(super) fn update_readiness_by_dates(store: &CertificateFiles, standing: &CertificateReadiness) {
    let (problem, remark) = store.expiry_problem_and_remark(Clock::default().now());
    let text = problem.as_ref().or(remark.as_ref()).cloned();
    if standing.replace_problems_and_remarks(problem.into_iter().collect(), remark.into_iter().collect())
        && let Some(text) = text
    {
        tracing::warn!("{text}");
    }
}

/// Checks the files until aborted.
pub(super) async fn reload_changed_files_until_aborted(
    store: Arc<CertificateFiles>,
    every: Duration,
    state: Arc<State>,
) {
    let mut failing = false;
    loop {
        update_readiness_by_dates(&store, &state.certificates);
        tokio::time::sleep(every).await;
        let looking = Arc::clone(&store);
        match task_supervisor::run_blocking_and_pass_on_panic(move || looking.reload_if_files_changed()).await
        {
            None => {}
            Some(Ok(false)) => failing = false,
            Some(Ok(true)) => {
                failing = false;
                state.metrics.certificates().count_load_and_record_time();
                state.metrics.certificates().set_leaf_expiry(store.expiry_time());
                tracing::info!("server certificate reloaded");
            }
            Some(Err(error)) => {
                state.metrics.certificates().count_failed_load();
                // Logged once, not at every check.
                if !failing {
                    tracing::error!(%error, "certificate reload failed; the previous certificate stays in use");
                }
                failing = true;
            }
        }
    }
}
