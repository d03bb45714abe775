//! Names of files as CI systems have them: relative to the root of the repository.

use std::path::{Component, Path, PathBuf};

/// The directory that names are relative to, and where the command runs.
pub(super) struct Repository {
    root: PathBuf,
    here: PathBuf,
}

impl Repository {
    /// The repository of the working directory; without one, the working directory itself.
    pub(super) fn here() -> Self {
        let here = std::env::current_dir().unwrap_or_default();
        let root = here.ancestors().find(|directory| directory.join(".git").exists()).unwrap_or(&here);
        Self { root: root.to_path_buf(), here: here.clone() }
    }

    /// The name of a file that was given on the command line. A file outside the repository keeps its name.
    pub(super) fn path_in_repository(&self, given: &str) -> String {
        if given == "<stdin>" {
            return "stdin".to_owned();
        }
        let mut whole = PathBuf::new();
        for part in self.here.join(given).components() {
            match part {
                Component::CurDir => {}
                Component::ParentDir => {
                    whole.pop();
                }
                part => whole.push(part),
            }
        }
        let inside = whole.strip_prefix(&self.root).ok().filter(|path| *path != Path::new(""));
        inside.map_or_else(|| given.to_owned(), |path| path.display().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_begin_at_the_root() {
        let repository = Repository { root: PathBuf::from("/w/repo"), here: PathBuf::from("/w/repo/deploy") };
        for (given, name) in [
            ("a.yaml", "deploy/a.yaml"),
            ("./a.yaml", "deploy/a.yaml"),
            ("../b/a.yaml", "b/a.yaml"),
            ("/w/repo/deploy/x/a.yaml", "deploy/x/a.yaml"),
            ("/tmp/a.yaml", "/tmp/a.yaml"),
            ("<stdin>", "stdin"),
        ] {
            assert_eq!(repository.path_in_repository(given), name);
        }
    }
}
