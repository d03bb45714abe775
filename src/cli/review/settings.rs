//! Settings of a review, and its formats.

use crate::facts::Mode;
use crate::kubernetes_version::{OLDEST, Version};
use crate::snapshot::Audience;
use clap::ValueEnum;

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
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// JUnit XML, for test reports
    Junit,
    /// Workflow commands of GitHub Actions, for annotations
    Github,
    /// Code Quality report of GitLab
    Gitlab,
}

impl Format {
    /// Whether it holds findings.
    pub(super) fn reports(self) -> bool {
        !matches!(self, Self::Yaml | Self::Patch | Self::Diff)
    }
}

/// Mode of the review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ModeArgument {
    /// Deny on errors
    Enforce,
    /// Report errors, but deny nothing
    Audit,
}

pub(super) fn kube_version(text: &str) -> Result<Version, String> {
    match Version::parse(text) {
        Some(version) if version.is_supported() => Ok(version),
        Some(_) => Err(format!("expected {OLDEST} or newer: older versions are not supported")),
        None => Err("expected a version such as 1.36".to_owned()),
    }
}

impl ModeArgument {
    pub(super) fn mode(self) -> Mode {
        match self {
            Self::Enforce => Mode::Enforce,
            Self::Audit => Mode::Audit,
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
