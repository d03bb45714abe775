//! Levels of Pod Security.

use std::fmt;

/// The level that Pod Security enforces in a namespace (k8s.io/pod-security-admission api/constants.go).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PodSecurity {
    /// Everything is admitted.
    #[default]
    Privileged,
    /// No way out of the container, and so no added `IPC_LOCK`.
    Baseline,
    /// Non-root, no capability but one.
    Restricted,
}

impl PodSecurity {
    /// Reads the value of the label. A value that is not a level enforces the strictest, as Pod Security does
    /// (k8s.io/pod-security-admission api/helpers.go, ParseLevel).
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text {
            "privileged" => Self::Privileged,
            "baseline" => Self::Baseline,
            _ => Self::Restricted,
        }
    }
}

impl fmt::Display for PodSecurity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Privileged => "privileged",
            Self::Baseline => "baseline",
            Self::Restricted => "restricted",
        })
    }
}
