//! What an answer means for the object, in one word: for metrics, the log and the audit log.

use super::decide_webhook_request::{Answer, WebhookEntry};
use crate::facts::EnforcementMode;

/// What an answer means for the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Admitted without changes.
    Allowed,
    /// Admitted with changes.
    Mutated,
    /// Admitted without the planned changes (mode audit, or `--mutate off`).
    Withheld,
    /// Refused.
    Denied,
    /// Admitted only because findings are reported here and not enforced.
    WouldDeny,
    /// Outside the webhook's scope.
    OutOfScope,
}

impl Verdict {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Mutated => "mutated",
            Self::Withheld => "withheld",
            Self::Denied => "denied",
            Self::WouldDeny => "would_deny",
            Self::OutOfScope => "out_of_scope",
        }
    }

    /// The verdict of an answer.
    #[must_use]
    pub fn of(answer: &Answer) -> Self {
        let decision = &answer.decision;
        // The other entries see the same pod again, with or without its changes.
        let plans = matches!(answer.entry, WebhookEntry::Mutate | WebhookEntry::Audit);
        match () {
            () if !decision.in_scope => Self::OutOfScope,
            () if decision.denied => Self::Denied,
            () if decision.would_deny => Self::WouldDeny,
            () if !decision.patch.is_empty() => Self::Mutated,
            () if answer.withheld && plans && !decision.plan.changes.is_empty() => Self::Withheld,
            () => Self::Allowed,
        }
    }
}

impl WebhookEntry {
    /// The mode in which it decides: only mode enforce denies.
    #[must_use]
    pub fn mode(self) -> EnforcementMode {
        match self {
            Self::Mutate | Self::Validate | Self::Networks => EnforcementMode::Enforce,
            Self::Audit => EnforcementMode::Audit,
            Self::Workload(mode) | Self::Object(mode) => mode,
        }
    }
}
