//! `preflight --install DIR`: copies this program, so that it can run in an image that does not have it.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// File name of the program; the webhook writes this name into the pod.
const NAME: &str = crate::pod::which_containers_webhook_added::PROGRAM;

/// Copies the running program to a directory. Any user may run the copy: preflight has the user of the training image.
///
/// # Errors
/// Those of the file system, with the path.
pub(super) fn install(directory: &Path) -> Result<(), String> {
    let copied = std::env::current_exe().and_then(|program| copy(&program, directory));
    copied.map_err(|error| format!("cannot copy the program to {}: {error}", directory.display()))
}

/// A container that is started again finds a complete program or none: the copy gets its name last.
fn copy(program: &Path, directory: &Path) -> io::Result<()> {
    let part = directory.join(format!("{NAME}.part"));
    fs::copy(program, &part)?;
    fs::set_permissions(&part, Permissions::from_mode(0o755))?;
    fs::rename(&part, directory.join(NAME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copy_can_be_run_by_anyone_and_replaces_another() {
        let directory = std::env::temp_dir().join(format!("fabric-install-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(NAME), "old").unwrap();
        install(&directory).unwrap();
        let copy = directory.join(NAME);
        let program = std::env::current_exe().unwrap();
        assert_eq!(fs::metadata(&copy).unwrap().len(), fs::metadata(program).unwrap().len());
        assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o755);
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
        fs::remove_dir_all(&directory).unwrap();
        let error = install(&directory).unwrap_err();
        assert!(error.contains("cannot copy the program to"), "{error}");
    }
}
