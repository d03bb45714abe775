//! Files for results. A change of others may replace a file of a repository by a link, so a result must not be written through
//! it to a file of the machine.

use super::input::links_in_directories::{why_link_of_repository_is_refused, working_tree};
use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Creates a file, or empties it.
///
/// # Errors
/// Those of the system, and a link in a Git repository that leads out of it, or to no file.
pub(super) fn create_output_file(path: &Path) -> io::Result<File> {
    refuse_link_out_of_repository(path)?;
    File::create(path)
}

/// Creates a file that only its owner may read, or empties it and makes it so.
///
/// # Errors
/// As [`create_output_file`].
pub(super) fn create_private_output_file(path: &Path) -> io::Result<File> {
    refuse_link_out_of_repository(path)?;
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    // An older file keeps its mode.
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}

fn refuse_link_out_of_repository(path: &Path) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let existing = if path.is_symlink() || path.exists() { path } else { directory };
    if let Some(message) = why_link_of_repository_is_refused(existing) {
        return Err(io::Error::other(message));
    }
    if path.is_symlink() && !path.exists() && working_tree(directory).is_some() {
        return Err(io::Error::other("the symbolic link leads to no file; remove the link"));
    }
    Ok(())
}
