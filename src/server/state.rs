//! State that all connections share.

use super::budgets;
use super::{Limits, Metrics};
use crate::cluster::Sync;
use crate::facts::Mode;
use crate::keeper;
use crate::snapshot::Snapshot;
use arc_swap::ArcSwap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Shared by every connection.
pub(crate) struct State {
    pub(crate) snapshot: ArcSwap<Snapshot>,
    pub(crate) metrics: Arc<Metrics>,
    /// The sync state of the watches.
    pub(crate) sync: Sync,
    /// Whether the API server would believe our certificate.
    pub(crate) certificates: keeper::Standing,
    pub(crate) workloads: Option<Mode>,
    pub(crate) network_objects: Option<Mode>,
    pub(crate) limits: Limits,
    /// What is left of the budgets.
    pub(crate) budgets: budgets::Budgets,
    /// Serving and not about to stop.
    pub(crate) ready: AtomicBool,
    /// A signal to stop has come: answers carry `Connection: close`.
    pub(crate) draining: AtomicBool,
}
