//! Settings of a review, and its formats.

use crate::facts::Mode;
use crate::profile::Profile;
use clap::ValueEnum;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people
    Text,
    /// For programs: fabric-admission.dev/review/v1
    Json,
    /// Every input document, changed or not
    Yaml,
    /// One JSON line for each changed object
    Patch,
    /// What would change, as a unified diff
    Diff,
}

/// What every decision shares.
pub(in crate::cli) struct Setting {
    pub(in crate::cli) namespace: String,
    pub(in crate::cli) mode: Option<Mode>,
    pub(in crate::cli) profile: Option<Arc<Profile>>,
    /// Whether it is told how profiles were found.
    pub(in crate::cli) why: bool,
}
