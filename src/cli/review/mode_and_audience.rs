//! `--mode` and `--audience`.

use crate::facts::EnforcementMode;
use crate::snapshot::Audience;
use clap::ValueEnum;

/// Mode of the review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ModeArgument {
    /// Deny on errors
    Enforce,
    /// Report errors, but deny nothing
    Audit,
}

impl ModeArgument {
    pub(super) fn mode(self) -> EnforcementMode {
        match self {
            Self::Enforce => EnforcementMode::Enforce,
            Self::Audit => EnforcementMode::Audit,
        }
    }
}

/// Who asks the webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum AudienceArgument {
    /// An API server that presents a client certificate (serve --client-ca)
    Tenant,
    /// Any caller of the webhook port
    Anyone,
}

impl AudienceArgument {
    pub(super) fn audience(self) -> Audience {
        match self {
            Self::Tenant => Audience::Tenant,
            Self::Anyone => Audience::Anyone,
        }
    }
}
