//! Exit codes, and which of them a review ends with.

use crate::cluster::api_client::ClientError;
use crate::rules::Severity;
use clap::ValueEnum;

/// Exit code of a command; the same for every format and mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Nothing to report.
    Clean = 0,
    /// A finding reaches `--fail-on`.
    Findings = 1,
    /// Unreadable input, or wrong usage.
    Usage = 2,
    /// Internal error, or an unreachable cluster.
    Internal = 3,
    /// `preflight`: the pod, its image or its profile is wrong; another node gives the same result. The numbers of
    /// `preflight` are those of sysexits.h: this is EX_CONFIG.
    Configuration = 78,
    /// `preflight`: the node or its fabric is wrong; another node may work. EX_UNAVAILABLE.
    Node = 69,
    /// `preflight`: it could not do its own work. EX_SOFTWARE.
    Own = 70,
}

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

impl Exit {
    /// The code where no client can be made: a wrong kubeconfig is the caller's mistake.
    pub(super) fn of_client(error: &ClientError) -> Self {
        if error.is_usage() { Self::Usage } else { Self::Internal }
    }

    /// The code of a review: unreadable input first, then the most severe finding.
    pub(super) fn of_review(unreadable: bool, worst: Option<Severity>, fail_on: FailOn) -> Self {
        if unreadable {
            return Self::Usage;
        }
        match (worst, fail_on.severity()) {
            (Some(worst), Some(least)) if worst >= least => Self::Findings,
            _ => Self::Clean,
        }
    }
}
