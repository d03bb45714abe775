//! Files for results. A change of others may replace a file of a repository by a link, so a result must not be written through
//! it to a file of the machine.

use super::input::links_in_directories::{why_link_of_repository_is_refused, working_tree};
use std::fs::File;
use std::io;
use std::path::Path;

/// Creates a file, or empties it.
///
/// # Errors
/// Those of the system, and a link in a Git repository that leads out of it, or to no file.
pub(super) fn create_output_file(path: &Path) -> io::Result<File> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let existing = if path.is_symlink() || path.exists() { path } else { directory };
    if let Some(message) = why_link_of_repository_is_refused(existing) {
        return Err(io::Error::other(message));
    }
    if path.is_symlink() && !path.exists() && working_tree(directory).is_some() {
        return Err(io::Error::other("the symbolic link leads to no file; remove the link"));
    }
    File::create(path)
}
