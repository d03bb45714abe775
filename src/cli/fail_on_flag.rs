//! `--fail-on` of `review`, `audit` and `verify-log`: its values and its default. `exit_code` compares findings with it.

use crate::rules::Severity;
use clap::ValueEnum;

/// Lowest severity that makes the exit code 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FailOn {
    Error,
    Warning,
    Info,
    Never,
}

impl FailOn {
    /// The default of each command.
    pub(super) const DEFAULT: Self = Self::Error;

    /// The severity; `None` for never.
    pub(super) fn severity(self) -> Option<Severity> {
        match self {
            Self::Error => Some(Severity::Error),
            Self::Warning => Some(Severity::Warning),
            Self::Info => Some(Severity::Info),
            Self::Never => None,
        }
    }
}
