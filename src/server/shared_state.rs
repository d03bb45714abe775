//! State that all connections share.

use super::budgets_for_requests_and_bytes;
use super::failed_tasks::FailedTasks;
use super::{Limits, LogDecisions, Metrics};
use crate::certificate_keeper;
use crate::cluster::SyncStateOfKinds;
use crate::facts::EnforcementMode;
use crate::snapshot::{Audience, Snapshot};
use arc_swap::ArcSwap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Shared by every connection.
pub(crate) struct State {
    pub(crate) snapshot: ArcSwap<Snapshot>,
    pub(crate) metrics: Arc<Metrics>,
    /// Who gets the answers.
    pub(crate) audience: Audience,
    /// The sync state of the watches.
    pub(crate) sync: SyncStateOfKinds,
    /// Whether the API server would trust our certificate.
    pub(crate) certificates: certificate_keeper::CertificateReadiness,
    /// The dates of the certificate in use, for the time when its task is down.
    pub(crate) expiry: certificate_keeper::DatesOfServedCertificate,
    /// Background tasks that are down.
    pub(crate) failed: FailedTasks,
    pub(crate) workloads: Option<EnforcementMode>,
    pub(crate) network_objects: Option<EnforcementMode>,
    /// Which decisions are logged.
    pub(crate) log_decisions: LogDecisions,
    pub(crate) limits: Limits,
    /// What is left of the budgets.
    pub(crate) budgets: budgets_for_requests_and_bytes::Budgets,
    /// Serving and not about to stop.
    pub(crate) ready: AtomicBool,
    /// A signal to stop has come: answers carry `Connection: close`.
    pub(crate) draining: AtomicBool,
}

#[cfg(test)]
impl State {
    /// Of a server that has just started, without facts.
    pub(crate) fn bare() -> Self {
        let limits = Limits::default();
        Self {
            snapshot: ArcSwap::from_pointee(Snapshot::default()),
            metrics: Arc::new(Metrics::new()),
            audience: Audience::Anyone,
            sync: SyncStateOfKinds::default(),
            certificates: certificate_keeper::CertificateReadiness::default(),
            expiry: certificate_keeper::DatesOfServedCertificate::default(),
            failed: FailedTasks::default(),
            workloads: None,
            network_objects: None,
            log_decisions: LogDecisions::default(),
            limits,
            budgets: budgets_for_requests_and_bytes::Budgets::new(&limits),
            ready: AtomicBool::new(true),
            draining: AtomicBool::new(false),
        }
    }
}
