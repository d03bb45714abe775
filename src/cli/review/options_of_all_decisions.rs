//! What all decisions of a review share.

use super::config::Ignores;
use crate::cli::estimate::EstimateRequest;
use crate::decision_limits::RunBudget;
use crate::facts::EnforcementMode;
use crate::profile::Profile;
use crate::snapshot::Audience;
use std::sync::Arc;

/// Settings that all decisions share.
pub(in crate::cli) struct ReviewOptions {
    pub(in crate::cli) namespace: String,
    pub(in crate::cli) mode: Option<EnforcementMode>,
    pub(in crate::cli) profile: Option<Arc<Profile>>,
    /// Whose facts count; `None` for all facts.
    pub(in crate::cli) audience: Option<Audience>,
    /// Findings that do not count.
    pub(in crate::cli) ignores: Ignores,
    /// Whether to report how profiles were chosen.
    pub(in crate::cli) why: bool,
    /// The work that the decisions of the run may still take together, whichever configurations its inputs have.
    pub(in crate::cli) work: Arc<RunBudget>,
    /// The training to estimate for each workload.
    pub(in crate::cli) estimate: Option<EstimateRequest>,
}
