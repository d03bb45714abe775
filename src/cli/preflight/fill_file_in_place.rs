//! The files that preflight writes for the containers after it.

use crate::pod_agent::create_or_empty_regular_file;
use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// A file that exists, empty and readable by every user, and that is filled later. It is never renamed: containers that
/// mount a subPath keep the file of this moment.
pub(super) struct FileToFill {
    file: File,
    name: String,
}

impl FileToFill {
    /// Creates the file. The user of the training container may be another one.
    pub(super) fn create_or_empty_file(path: &Path) -> Result<Self, String> {
        let fault = |error: io::Error| format!("{}: {}", path.display(), words(&error));
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(fault)?;
        }
        let file = create_or_empty_regular_file(path).map_err(fault)?;
        file.set_permissions(fs::Permissions::from_mode(0o644)).map_err(fault)?;
        Ok(Self { file, name: path.display().to_string() })
    }

    /// Writes the content in place. After a failure the file is empty: half a file would be read as a whole one.
    pub(super) fn write_whole_or_leave_empty(&mut self, content: &str) -> Result<(), String> {
        let written = self.file.write_all(content.as_bytes()).and_then(|()| self.file.sync_all());
        written.map_err(|error| {
            let emptied = self.file.set_len(0).and_then(|()| self.file.rewind());
            let state = if emptied.is_ok() { "the file is empty now" } else { "the file may be incomplete" };
            format!("{}: {}; {state}", self.name, words(&error))
        })
    }
}

/// The system's words for an error, without its number.
fn words(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}
