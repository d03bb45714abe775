//! Settings of a review, and its formats.

use crate::facts::Mode;
use crate::profile::Profile;
use crate::snapshot::Audience;
use clap::ValueEnum;
use std::path::PathBuf;
use std::sync::Arc;

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
            None => "only one format can go to standard output; write the others as -o FORMAT=FILE".to_owned(),
            Some(file) => format!("several formats have the file {}", file.display()),
        })
    })
}

/// Who asks the webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
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

/// Settings that all decisions share.
pub(in crate::cli) struct Setting {
    pub(in crate::cli) namespace: String,
    pub(in crate::cli) mode: Option<Mode>,
    pub(in crate::cli) profile: Option<Arc<Profile>>,
    /// Whose facts count; `None` for all facts.
    pub(in crate::cli) audience: Option<Audience>,
    /// Whether to report how profiles were chosen.
    pub(in crate::cli) why: bool,
}
