//! A file with results never replaces an input.

use super::config::InputsOfOneConfig;
use crate::cli::create_output_file::create_output_file;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Creates a file for results. An input is never overwritten.
pub(super) fn create_unless_input(file: &Path, inputs: &BTreeSet<PathBuf>) -> Result<File, String> {
    if is_input(file, inputs) {
        return Err("this file is an input".to_owned());
    }
    create_output_file(file).map_err(|error| error.to_string())
}

pub(super) fn is_input(file: &Path, inputs: &BTreeSet<PathBuf>) -> bool {
    file.canonicalize().is_ok_and(|existing| inputs.contains(&existing))
}

/// The inputs among the files that are to be written.
pub(super) fn inputs_among<'a>(
    written: impl Iterator<Item = &'a Path>,
    groups: &[InputsOfOneConfig],
) -> BTreeSet<PathBuf> {
    let existing: BTreeSet<PathBuf> = written.filter_map(|file| file.canonicalize().ok()).collect();
    if existing.is_empty() {
        return existing;
    }
    let inputs = groups.iter().flat_map(|group| &group.paths).filter_map(|path| path.canonicalize().ok());
    inputs.filter(|input| existing.contains(input)).collect()
}
