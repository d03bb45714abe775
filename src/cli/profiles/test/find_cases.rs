//! Which files are cases.

use super::case::{Case, EXPECTED};
use crate::cli::input::read_files_and_directories;
use crate::report::UnreadInput;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The cases of some paths, and what cannot be read, without the files below `others`, which are profiles and facts.
pub(super) fn find(paths: &[PathBuf], others: &[&PathBuf]) -> Result<(Vec<Case>, Vec<UnreadInput>), String> {
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let others: Vec<PathBuf> = others.iter().map(|path| whole(path)).collect();
    let (mut inputs, mut expectations, mut unread) = (Vec::new(), BTreeSet::new(), Vec::new());
    for path in paths {
        if path == Path::new("-") {
            return Err("a case is a file; standard input is not supported".to_owned());
        }
        if !path.exists() {
            return Err(format!("{}: no such file or directory", path.display()));
        }
        let (files, problems) = read_files_and_directories::files_of_path_and_unread(path);
        unread.extend(problems);
        for file in files {
            let real = whole(&file);
            if others.iter().any(|other| real.starts_with(other)) {
                continue;
            }
            match is_expectation(&file) {
                true => drop(expectations.insert(file)),
                false => inputs.push(file),
            }
        }
    }
    let cases: Vec<Case> = inputs.into_iter().map(Case::new).collect();
    // The expectation of a case that was renamed would never be compared.
    let expected: BTreeSet<&PathBuf> = cases.iter().map(|case| &case.expected).collect();
    if let Some(lost) = expectations.iter().find(|file| !expected.contains(file)) {
        return Err(format!("{}: no case has this expectation", lost.display()));
    }
    let mut seen = BTreeSet::new();
    if let Some(twice) = cases.iter().find(|case| !seen.insert(&case.expected)) {
        return Err(format!("{}: two cases have the same expectation", twice.expected.display()));
    }
    // A wrong path must not look like a success.
    if cases.is_empty() && unread.is_empty() {
        let shown: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        return Err(format!("{}: no cases (a case is a manifest NAME.yaml)", shown.join(", ")));
    }
    Ok((cases, unread))
}

fn is_expectation(file: &Path) -> bool {
    file.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.ends_with(EXPECTED))
}
