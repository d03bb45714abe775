//! The paths in a configuration file. Whoever may change a repository may change its configuration, so a path must not lead
//! the review out of the repository, or to a device that never ends.

use crate::cli::input::links_in_directories::{is_file_of_tree, working_tree};
use std::path::{Path, PathBuf};

/// Longest path (bytes). Each configuration that extends another one has a copy of its paths.
const MAX_PATH: usize = 1_024;

/// A path of a configuration file in `directory`, as the command line would name it.
///
/// # Errors
/// The path leads out of the Git working tree of the directory, or to neither a file nor a directory. A path to nothing is
/// an error where it is read.
pub(super) fn join_or_refuse_outside_repository(directory: &Path, path: &Path) -> Result<PathBuf, String> {
    let length = path.as_os_str().len();
    if length > MAX_PATH {
        return Err(format!("a path has at most {MAX_PATH} bytes, and this one has {length}"));
    }
    if path == Path::new("-") {
        return Err("- is standard input, which only the command line may name; a file of this name is ./-"
            .to_owned());
    }
    let joined = directory.join(path);
    let whole = match joined.canonicalize() {
        Ok(whole) => whole,
        // A pipe, or a file that was deleted, to which only `/proc/self/fd` leads.
        Err(_) if joined.metadata().is_ok() => {
            return Err(format!(
                "{} leads to an open file of a process, and not to a file of the repository",
                path.display()
            ));
        }
        Err(_) => return Ok(joined),
    };
    if !whole.is_file() && !whole.is_dir() {
        return Err(format!("{} is neither a file nor a directory", path.display()));
    }
    match working_tree(directory).filter(|tree| !is_file_of_tree(tree, &whole)) {
        None => Ok(joined),
        Some(tree) => Err(format!(
            "{} is outside of the repository {}; name it with a flag instead",
            path.display(),
            tree.display()
        )),
    }
}
