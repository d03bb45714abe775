//! `-o FORMAT` and `-o FORMAT=FILE`, for commands with several outputs at once.

use clap::ValueEnum;
use std::path::PathBuf;

/// A format, and where it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Output<F> {
    pub(super) format: F,
    /// `None` for standard output.
    pub(super) file: Option<PathBuf>,
}

/// Reads a value of `-o`.
pub(super) fn parse<F: ValueEnum>(text: &str) -> Result<Output<F>, String> {
    let (format, file) = match text.split_once('=') {
        Some((format, file)) => (format, Some(file)),
        None => (text, None),
    };
    if file == Some("") {
        return Err(format!("expected {format}=FILE, or {format} for standard output"));
    }
    let format = F::from_str(format, false).map_err(|_| {
        let names: Vec<String> = F::value_variants()
            .iter()
            .filter_map(|f| Some(f.to_possible_value()?.get_name().to_owned()))
            .collect();
        let meant = crate::text::nearest_if_probably_meant(format, names.iter().map(String::as_str));
        let meant = meant.map(|near| format!("did you mean {near:?}? ")).unwrap_or_default();
        format!("{meant}known formats: {}", names.join(", "))
    })?;
    Ok(Output { format, file: file.map(PathBuf::from) })
}

/// Why some values of `-o` do not fit together.
pub(super) fn why_outputs_clash<F>(outputs: &[Output<F>]) -> Option<String> {
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
