//! The formats of `--output`.

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
    pub(super) fn shows_findings(self) -> bool {
        !matches!(self, Self::Yaml | Self::Patch | Self::Diff)
    }
}
