//! Symbolic links in paths that are named, and in directories that are searched for manifests. Whoever may change a repository may add links: to a file with
//! secrets of the machine that runs the review, whose lines an error would show, or many links to one long file.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The links of one directory that was named.
pub(super) struct LinksOfDirectory {
    /// Where links may lead: the directory, and the Git working tree around it.
    inside: Vec<PathBuf>,
    /// Files that a link leads to.
    targets: HashSet<PathBuf>,
}

/// What to do with a link to a file.
pub(super) enum Link {
    Read,
    /// Another link leads to the same file.
    Again,
    /// It leads out of the directory and of the repository.
    Outside(PathBuf),
}

impl LinksOfDirectory {
    pub(super) fn new(directory: &Path) -> Self {
        let own = directory.join(".").canonicalize().ok();
        let inside = own.into_iter().chain(working_tree(directory)).collect();
        Self { inside, targets: HashSet::new() }
    }

    /// A link to a regular file; `None` for any other link.
    pub(super) fn add_link(&mut self, link: &Path) -> Option<Link> {
        let target = link.canonicalize().ok().filter(|target| target.is_file())?;
        // A ConfigMap in a volume has a link for each key (kubernetes/kubernetes pkg/volume/util/atomic_writer.go).
        if !self.inside.iter().any(|inside| target.starts_with(inside)) {
            return Some(Link::Outside(target));
        }
        Some(if self.targets.insert(target) { Link::Read } else { Link::Again })
    }

    /// Whether a link that was read leads to a file.
    pub(super) fn is_read_through_link(&self, file: &Path) -> bool {
        !self.targets.is_empty() && file.canonicalize().is_ok_and(|file| self.targets.contains(&file))
    }
}

/// Why a path that was named is not read: a link in it, which belongs to a Git working tree, leads out of this tree. A change
/// of others may have brought the link, so a shown line of its target may be a secret of the machine. Links outside of working
/// trees belong to the user.
pub(in crate::cli) fn why_link_of_repository_is_refused(path: &Path) -> Option<String> {
    let target = path.canonicalize().ok()?;
    let mut part = PathBuf::new();
    for component in path.components() {
        part.push(component);
        if !part.is_symlink() {
            continue;
        }
        let tree = working_tree(part.parent().unwrap_or(Path::new("")));
        if let Some(tree) = tree.filter(|tree| !target.starts_with(tree)) {
            return Some(format!(
                "the symbolic link leads to {}, which is outside of the repository {}; name {} itself",
                target.display(),
                tree.display(),
                target.display()
            ));
        }
    }
    None
}

/// The nearest directory that has an entry `.git`, which is a file in a worktree and in a submodule.
pub(in crate::cli) fn working_tree(directory: &Path) -> Option<PathBuf> {
    let whole = directory.join(".").canonicalize().ok()?;
    whole.ancestors().find(|above| above.join(".git").exists()).map(Path::to_path_buf)
}
