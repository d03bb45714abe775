//! What all decisions of a review share.

use super::config::Ignores;
use crate::cli::estimate::Asked;
use crate::facts::Mode;
use crate::profile::Profile;
use crate::snapshot::Audience;
use std::sync::Arc;

/// Settings that all decisions share.
pub(in crate::cli) struct Setting {
    pub(in crate::cli) namespace: String,
    pub(in crate::cli) mode: Option<Mode>,
    pub(in crate::cli) profile: Option<Arc<Profile>>,
    /// Whose facts count; `None` for all facts.
    pub(in crate::cli) audience: Option<Audience>,
    /// Findings that do not count.
    pub(in crate::cli) ignores: Ignores,
    /// Whether to report how profiles were chosen.
    pub(in crate::cli) why: bool,
    /// The training to estimate for each workload.
    pub(in crate::cli) estimate: Option<Asked>,
}
