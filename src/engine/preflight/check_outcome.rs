//! The outcome of a check.

use schemars::JsonSchema;
use serde::Serialize;

/// Verdict of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The profile switches the check off, or the transport does not need it.
    Off,
    /// As it should be.
    Pass,
    /// Nothing is known, with the reason. Never a pass.
    Unknown,
    /// Something works less well or may fail, or the profile lets the check only warn.
    Warn,
    /// Training would fail or run without RDMA.
    Fail,
}

impl Verdict {
    /// Its name.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Pass => "pass",
            Self::Warn => "warn",
            Self::Unknown => "unknown",
            Self::Fail => "fail",
        }
    }
}

/// Who can fix a failure. The exit code shows it, so that a `podFailurePolicy` can act on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Fault")]
pub enum WhoCanFix {
    /// The pod, its image or its profile: another node gives the same result.
    Configuration,
    /// The node or its fabric: another node may work.
    Node,
    /// preflight itself.
    Own,
}

impl WhoCanFix {
    /// Its name.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Configuration => "configuration",
            Self::Node => "node",
            Self::Own => "own",
        }
    }
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreflightCheckOutcome {
    /// The verdict.
    pub verdict: Verdict,
    /// Who can fix it; for a failure and a warning.
    pub fault: Option<WhoCanFix>,
    /// What was found, and its consequence.
    pub message: String,
    /// What to do; empty where there is nothing to do.
    pub fix: String,
}

impl PreflightCheckOutcome {
    pub(super) fn pass(message: impl Into<String>) -> Self {
        Self { verdict: Verdict::Pass, fault: None, message: message.into(), fix: String::new() }
    }

    pub(super) fn off(message: impl Into<String>) -> Self {
        Self { verdict: Verdict::Off, fault: None, message: message.into(), fix: String::new() }
    }

    pub(super) fn unknown(message: impl Into<String>) -> Self {
        Self { verdict: Verdict::Unknown, fault: None, message: message.into(), fix: String::new() }
    }

    pub(super) fn warn(fault: WhoCanFix, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { verdict: Verdict::Warn, fault: Some(fault), message: message.into(), fix: fix.into() }
    }

    pub(super) fn fail(fault: WhoCanFix, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { verdict: Verdict::Fail, fault: Some(fault), message: message.into(), fix: fix.into() }
    }
}
