//! Settings of a review, and its formats.

use crate::facts::Mode;
use crate::profile::Profile;
use clap::ValueEnum;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Text for a terminal
    Text,
    /// One JSON document, schema fabric-admission.dev/review/v1
    Json,
    /// Every input document as YAML, with the changes applied
    Yaml,
    /// One line of JSON per changed object, with the object's JSON patch
    Patch,
    /// Unified diff of the changes
    Diff,
}

impl Format {
    /// Whether it holds findings.
    pub(super) fn reports(self) -> bool {
        matches!(self, Self::Text | Self::Json)
    }
}

/// Settings that all decisions share.
pub(in crate::cli) struct Setting {
    pub(in crate::cli) namespace: String,
    pub(in crate::cli) mode: Option<Mode>,
    pub(in crate::cli) profile: Option<Arc<Profile>>,
    /// Whether text shows every finding.
    pub(in crate::cli) verbose: bool,
    /// Whether to report how profiles were chosen.
    pub(in crate::cli) why: bool,
}
