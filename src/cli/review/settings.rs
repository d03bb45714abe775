//! Settings of a review, and its formats.

use crate::facts::Mode;
use crate::snapshot::Audience;
use clap::ValueEnum;
use std::path::PathBuf;

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

/// `-o FORMAT` or `-o FORMAT=FILE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OutputArgument {
    pub(super) format: Format,
    /// `None` for standard output.
    pub(super) file: Option<PathBuf>,
}

/// Reads a value of `-o`.
pub(super) fn output(text: &str) -> Result<OutputArgument, String> {
    let (format, file) = match text.split_once('=') {
        Some((format, file)) => (format, Some(file)),
        None => (text, None),
    };
    if file == Some("") {
        return Err(format!("expected {format}=FILE, or {format} for standard output"));
    }
    let format = Format::from_str(format, false).map_err(|_| {
        let names: Vec<String> = Format::value_variants()
            .iter()
            .filter_map(|f| Some(f.to_possible_value()?.get_name().to_owned()))
            .collect();
        let meant = crate::text::nearest(format, names.iter().map(String::as_str));
        let meant = meant.map(|near| format!("did you mean {near}? ")).unwrap_or_default();
        format!("{meant}known formats: {}", names.join(", "))
    })?;
    Ok(OutputArgument { format, file: file.map(PathBuf::from) })
}

/// Why some values of `-o` do not fit together.
pub(super) fn clash(outputs: &[OutputArgument]) -> Option<String> {
    outputs.iter().enumerate().find_map(|(at, output)| {
        let before = outputs.get(..at)?;
        if !before.iter().any(|other| other.file == output.file) {
            return None;
        }
        Some(match &output.file {
            None => {
                "only one format can go to standard output; write the others as -o FORMAT=FILE".to_owned()
            }
            Some(file) => format!("several formats have the file {}", file.display()),
        })
    })
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

pub(super) fn kube_version(text: &str) -> Result<(u32, u32), String> {
    let mut parts = text.trim_start_matches('v').split(['.', '+', '-']);
    let mut number = || parts.next().and_then(|p| p.parse::<u32>().ok());
    match (number(), number()) {
        (Some(major), Some(minor)) if (major, minor) >= (1, 33) => Ok((major, minor)),
        (Some(_), Some(_)) => Err("expected 1.33 or newer: older versions are not supported".to_owned()),
        _ => Err("expected a version such as 1.36".to_owned()),
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
    /// An API server that shows a client certificate (serve --client-ca)
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
