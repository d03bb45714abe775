//! Exit codes, and which of them a command ends with.

use super::fail_on_flag::FailOn;
use crate::cluster::api_client::ClientError;
use crate::preflight::check_outcome::{Verdict, WhoCanFix};
use crate::rules::Severity;

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

impl Exit {
    /// The code where no client can be made: a wrong kubeconfig is the caller's mistake.
    pub(super) fn of_client(error: &ClientError) -> Self {
        if error.is_wrong_usage() { Self::Usage } else { Self::Internal }
    }

    /// The code of some findings: unreadable input first, then the most severe finding. `audit` and `verify-log` end with it.
    /// `review` asks so about the inputs of each configuration, and ends with [`Self::of_unreadable_or_failed`].
    pub(super) fn of_worst_finding(unreadable: bool, worst: Option<Severity>, fail_on: FailOn) -> Self {
        if unreadable {
            return Self::Usage;
        }
        match (worst, fail_on.severity()) {
            (Some(worst), Some(least)) if worst >= least => Self::Findings,
            _ => Self::Clean,
        }
    }

    /// The code of several results: unreadable input first, then whether any of them fails the command.
    pub(super) fn of_unreadable_or_failed(unreadable: bool, fails: bool) -> Self {
        match (unreadable, fails) {
            (true, _) => Self::Usage,
            (false, true) => Self::Findings,
            (false, false) => Self::Clean,
        }
    }

    /// The code of `preflight`: who can fix the failure.
    pub(super) fn of_preflight(verdict: Verdict, fault: Option<WhoCanFix>) -> Self {
        match (verdict, fault) {
            (Verdict::Fail, Some(WhoCanFix::Configuration)) => Self::Configuration,
            (Verdict::Fail, Some(WhoCanFix::Node)) => Self::Node,
            (Verdict::Fail, _) => Self::Own,
            _ => Self::Clean,
        }
    }
}
