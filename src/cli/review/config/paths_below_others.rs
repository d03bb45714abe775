//! Paths of a configuration that other paths of it have already.

use crate::cli::input::hidden_files_of_directories::is_hidden;
use std::path::{Path, PathBuf};

/// The paths without those that are below another one, or equal to one before. Otherwise each file of a deep directory would be
/// listed for each path above it. What is below a hidden directory stays: a directory is read without most of its hidden files.
pub(super) fn without_paths_below_others(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let whole: Vec<PathBuf> =
        paths.iter().map(|path| path.canonicalize().unwrap_or_else(|_| path.clone())).collect();
    let has = |other: &Path, path: &Path, before: bool| match path.strip_prefix(other) {
        Ok(below) if below.as_os_str().is_empty() => before,
        Ok(below) => !below.iter().any(is_hidden),
        Err(_) => false,
    };
    let is_kept = |at: usize, path: &Path| {
        !whole.iter().enumerate().any(|(other, known)| other != at && has(known, path, other < at))
    };
    let kept: Vec<bool> = whole.iter().enumerate().map(|(at, path)| is_kept(at, path)).collect();
    paths.into_iter().zip(kept).filter_map(|(path, is_kept)| is_kept.then_some(path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_are_read_with_others_are_left_out() {
        let given = ["/no/a/b", "/no/a", "/no/ab", "/no/a", "/no/a/.c/d", "/no/a/b/c", "/no/e.yaml"];
        let kept = without_paths_below_others(given.iter().map(PathBuf::from).collect());
        let expected = ["/no/a", "/no/ab", "/no/a/.c/d", "/no/e.yaml"];
        assert_eq!(kept, expected.map(PathBuf::from));
    }
}
