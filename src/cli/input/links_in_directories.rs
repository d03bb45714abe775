//! Symbolic links in paths that are named, and in directories that are searched for manifests. Whoever may change a repository may add links: to a file with
//! secrets of the machine that runs the review, whose lines an error would show, or many links to one long file.

use super::hidden_files_of_directories::{is_manifest, is_of_version_control, may_be_version_of_volume};
use crate::pod_agent::{LastLink, open_regular_file};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The links of one directory that was named.
pub(super) struct LinksOfDirectory {
    /// Where links may lead: the directory, and the Git working tree around it.
    inside: Vec<PathBuf>,
    /// Files that a link leads to, each with the directory of the link. Links of several directories may lead to one file, since
    /// each directory may have a configuration of its own.
    targets: HashSet<(PathBuf, PathBuf)>,
    /// The same files, each with what it counts for when it is read again, once that is known.
    files: HashMap<PathBuf, Option<u64>>,
    /// What the files count for that links of further directories lead to again (bytes).
    repeated: u64,
    /// Whether the files that hidden links lead to are manifests. Many links may lead to one file.
    targets_of_hidden: HashMap<PathBuf, bool>,
    /// Length of those that are outside (bytes).
    outside: u64,
}

/// Most text that links of further directories lead to again (bytes).
const MAX_REPEATED_BYTES: u64 = 32 << 20;

/// What an object counts for at least (bytes). A million objects without any fields take 8 s.
const BYTES_FOR_OBJECT: u64 = 128;

/// Most text outside of the directory that is read to find out whether hidden links lead to manifests (bytes). Links may lead to
/// all files of the machine.
const MAX_BYTES_OUTSIDE: u64 = 32 << 20;

/// What to do with a link to a file.
pub(super) enum Link {
    Read,
    /// Another link of the same directory leads to the same file.
    Again,
    /// Links of other directories lead to the same files, which are too long to be read again.
    TooLong,
    /// It leads out of the directory and of the repository.
    Outside(PathBuf),
}

impl LinksOfDirectory {
    pub(super) fn new(directory: &Path) -> Self {
        let own = directory.join(".").canonicalize().ok();
        let inside = own.into_iter().chain(working_tree(directory)).collect();
        Self {
            inside,
            targets: HashSet::new(),
            files: HashMap::new(),
            repeated: 0,
            targets_of_hidden: HashMap::new(),
            outside: 0,
        }
    }

    /// A link to a regular file; `None` for any other link.
    pub(super) fn add_link(&mut self, link: &Path) -> Option<Link> {
        let target = link.canonicalize().ok().filter(|target| target.is_file())?;
        // A ConfigMap in a volume has a link for each key (kubernetes/kubernetes pkg/volume/util/atomic_writer.go).
        if !self.is_inside(&target) {
            return Some(Link::Outside(target));
        }
        let directory = link.parent().unwrap_or(Path::new("")).join(".").canonicalize().ok()?;
        if !self.targets.insert((directory, target.clone())) {
            return Some(Link::Again);
        }
        match self.files.entry(target) {
            Entry::Vacant(first) => {
                first.insert(None);
            }
            Entry::Occupied(mut again) => {
                let weight = again.get().unwrap_or_else(|| weight_of_file(again.key()));
                again.insert(Some(weight));
                self.repeated = self.repeated.saturating_add(weight);
            }
        }
        Some(if self.repeated > MAX_REPEATED_BYTES { Link::TooLong } else { Link::Read })
    }

    /// Whether a hidden link to a file leads to a manifest, or nobody can know.
    pub(super) fn leads_to_manifest(&mut self, link: &Path) -> bool {
        let Ok(target) = link.canonicalize() else { return true };
        if let Some(known) = self.targets_of_hidden.get(&target) {
            return *known;
        }
        let is_outside = !self.is_inside(&target);
        if is_outside {
            let length = target.metadata().map_or(0, |about| about.len());
            self.outside = self.outside.saturating_add(length);
        }
        let answer = is_outside && self.outside > MAX_BYTES_OUTSIDE || is_manifest(&target);
        self.targets_of_hidden.insert(target, answer);
        answer
    }

    /// Whether a link may lead to a file.
    fn is_inside(&self, target: &Path) -> bool {
        self.inside.iter().any(|inside| is_file_of_tree(inside, target))
    }

    /// Whether a file is in a version of a volume, and a link of the volume that was read leads to it.
    pub(super) fn is_key_of_volume(&self, file: &Path) -> bool {
        let version = file.ancestors().find(|part| part.file_name().is_some_and(may_be_version_of_volume));
        let volume = version.and_then(Path::parent).and_then(|volume| volume.join(".").canonicalize().ok());
        let (Some(volume), Ok(file)) = (volume, file.canonicalize()) else { return false };
        self.targets.contains(&(volume, file))
    }
}

/// What a file counts for when it is read again (bytes): its length, or more if it may have many objects, such as a list of kind
/// PodList whose items are `{}`.
fn weight_of_file(file: &Path) -> u64 {
    let length = file.metadata().map_or(0, |about| about.len());
    if length > MAX_REPEATED_BYTES {
        return length;
    }
    let mut text = Vec::new();
    // The reader reports a file that cannot be read.
    let read = open_regular_file(file, LastLink::Follow)
        .and_then(|file| file.take(MAX_REPEATED_BYTES).read_to_end(&mut text));
    read.map_or(length, |_| length.max(most_objects(&text).saturating_mul(BYTES_FOR_OBJECT)))
}

/// More objects than a text has. Each begins with `{`, with `- `, with `,` in a list such as `[a: b, c: d]` or with a separator, or
/// is a part of an alias.
fn most_objects(text: &[u8]) -> u64 {
    let (mut starts, mut aliases) = (1_u64, 0_u64);
    for (at, byte) in text.iter().enumerate() {
        let is_before = |is: fn(&u8) -> bool| text.get(at + 1).is_none_or(is);
        match byte {
            b'{' | b',' => starts += 1,
            b'-' if is_before(|next| !next.is_ascii_alphanumeric() && *next != b'-') => starts += 1,
            b'*' if is_before(|next| next.is_ascii_alphanumeric() || b"-_".contains(next)) => aliases += 1,
            _ => {}
        }
    }
    // The aliases of a document add at most 64 times its length, and 16 KiB to a short one; an object takes two bytes or more.
    let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
    let added = length.saturating_mul(32).max(8 << 10);
    starts.saturating_add(starts.saturating_mul(aliases).min(added))
}

/// Why a path that was named is not read: a link in it, which belongs to a Git working tree, leads out of this tree. A change
/// of others may have brought the link, so a shown line of its target may be a secret of the machine. Links outside of working
/// trees belong to the user.
pub(in crate::cli) fn why_link_of_repository_is_refused(path: &Path) -> Option<String> {
    let target = match path.canonicalize() {
        Ok(target) => Some(target),
        // A pipe, or a file that was deleted, to which only `/proc/self/fd` leads.
        Err(_) if path.metadata().is_ok() => None,
        Err(_) => return None,
    };
    let mut part = PathBuf::new();
    for component in path.components() {
        part.push(component);
        if !part.is_symlink() {
            continue;
        }
        let Some(tree) = working_tree(part.parent().unwrap_or(Path::new(""))) else { continue };
        match &target {
            Some(target) if is_file_of_tree(&tree, target) => {}
            Some(target) => {
                return Some(format!(
                    "the symbolic link leads to {}, which is outside of the repository {}; name {} itself",
                    target.display(),
                    tree.display(),
                    target.display()
                ));
            }
            None => {
                return Some(format!(
                    "the symbolic link leads to an open file of a process, which is outside of the repository {}; \
                     replace the link with the file itself",
                    tree.display()
                ));
            }
        }
    }
    None
}

/// Whether a path is in a directory, and not in one of version control, which has passwords of remote repositories.
pub(in crate::cli) fn is_file_of_tree(tree: &Path, path: &Path) -> bool {
    let Ok(inside) = path.strip_prefix(tree) else { return false };
    !inside.components().any(|part| is_of_version_control(part.as_os_str()))
}

/// The nearest directory that has an entry `.git`, which is a file in a worktree and in a submodule.
pub(in crate::cli) fn working_tree(directory: &Path) -> Option<PathBuf> {
    let whole = directory.join(".").canonicalize().ok()?;
    whole.ancestors().find(|above| above.join(".git").exists()).map(Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_many_objects() {
        let pods = "{},".repeat(1000);
        for (text, least) in [
            ("kind: Pod\n---\n".repeat(1000), 1000),
            ("{}".repeat(1000), 1000),
            (format!("kind: PodList\nitems: [{pods}]\n"), 1000),
            (format!("kind: PodList\nitems:\n{}", "- a:\n".repeat(1000)), 1000),
            (format!("kind: PodList\nitems: [{}]\n", "a: ,".repeat(1000)), 1000),
            (format!("kind: PodList\nitems: [&a {{}},{}]\n", "*a,".repeat(1000)), 1000),
            (format!("kind: List\nitems: [&a {{kind: PodList, items: [{pods}]}},*a,*a]\n"), 3000),
        ] {
            let found = most_objects(text.as_bytes());
            assert!(found >= least, "{found}: {text:.30}");
        }
    }

    /// What people write counts for not much more than its length.
    #[test]
    fn usual_manifests_have_few_objects() {
        let text = "apiVersion: v1\nkind: Pod\nmetadata: {name: some-pod, namespace: default}\nspec:\n  containers:\n  - name: \
                    container\n    image: registry.example.com/image:1.2.3\n    args: [--one=2, --three=4, --five=6, --seven=8]\n    \
                    resources:\n      limits:\n        nvidia.com/gpu: 8\n        memory: 100Gi\n  restartPolicy: Never\n  \
                    terminationGracePeriodSeconds: 30\n  priorityClassName: high-priority-of-the-cluster\n---\n";
        assert_eq!(most_objects(text.as_bytes()), 8);
        assert!(8 * BYTES_FOR_OBJECT < 3 * text.len() as u64);
    }
}
