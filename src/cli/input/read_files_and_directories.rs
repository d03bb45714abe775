//! Files, directories and standard input to documents. An unreadable file does not affect the others.

use super::errors_of_a_file::{
    UnreadAndSkippedInputs, shown_name_of_input, unread_because_not_opened, unreadable,
};
use super::hidden_files_of_directories::{
    is_git_directory, is_hidden, is_manifest, may_be_version_of_volume,
};
use super::links_in_directories::{Link, LinksOfDirectory, why_link_of_repository_is_refused};
use super::loaded_batches::Loaded;
use super::parts_of_a_stream::{PartOfInput, WhereToReadAgain};
use super::read_in_parallel::{InputReader, Needs, PartToDecode};
use crate::manifest::Document;
use crate::report::UnreadInput;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Ends of the names that are looked for in directories.
const EXTENSIONS: [&str; 3] = [".yaml", ".yml", ".json"];
/// Deepest directory tree that is searched; symbolic links to directories are not followed.
const MAX_DEPTH: usize = 64;

/// Reads files, directories and standard input, and shows each part to `visit` once, in order. An empty standard input is
/// an error unless `allow_empty`: the command before the pipe may have failed. So is a directory without manifests.
/// Returns what was read, and what cannot be read.
pub(in crate::cli) fn read_inputs_and_visit_all(
    paths: &[PathBuf],
    allow_empty: bool,
    visit: &mut dyn FnMut(&[Document]),
) -> (Loaded, UnreadAndSkippedInputs) {
    let reader = InputReader::new(Needs::All, allow_empty, visit);
    let mut loaded = read_with(reader, paths, allow_empty, &mut |_| true).end();
    let problems = loaded.take_problems();
    (loaded, problems)
}

/// The same without those files of directories that are not new.
pub(in crate::cli) fn read_new_inputs_and_visit_all(
    paths: &[PathBuf],
    is_new: &mut dyn FnMut(&Path) -> bool,
    visit: &mut dyn FnMut(&[Document]),
) -> (Loaded, UnreadAndSkippedInputs) {
    let mut loaded = read_with(InputReader::new(Needs::All, false, visit), paths, false, is_new).end();
    let problems = loaded.take_problems();
    (loaded, problems)
}

/// The same for inputs that are reviewed afterwards: `visit` sees at least the documents that may be facts, and the
/// batches have what cannot be read. `more` are texts with their names that do not come from files.
pub(in crate::cli) fn read_inputs_and_visit_facts(
    paths: &[PathBuf],
    more: impl Iterator<Item = (String, Vec<u8>)>,
    allow_empty: bool,
    visit: &mut dyn FnMut(&[Document]),
) -> Loaded {
    let reader = InputReader::new(Needs::Facts, allow_empty, visit);
    let mut reader = read_with(reader, paths, allow_empty, &mut |_| true);
    for (name, text) in more {
        let part = PartOfInput { text, place: WhereToReadAgain::Stream, line: 1 };
        reader.add_part_and_decode_when_full(PartToDecode {
            name: Arc::from(name),
            part,
            continues: false,
            last: true,
            empty: false,
        });
    }
    reader.end()
}

fn read_with<'v>(
    mut reader: InputReader<'v>,
    paths: &[PathBuf],
    allow_empty: bool,
    is_new: &mut dyn FnMut(&Path) -> bool,
) -> InputReader<'v> {
    let mut had_stdin = false;
    for path in paths {
        if path == Path::new("-") && std::mem::replace(&mut had_stdin, true) {
            continue;
        }
        if let Some(message) = why_link_of_repository_is_refused(path) {
            reader.add_unread_in_order(unreadable(&shown_name_of_input(path), &message));
            continue;
        }
        if !reader.read_unless_directory(path) {
            continue;
        }
        let (mut files, mut unread) = (Vec::new(), Vec::new());
        add_files_of_directory(path, &mut files, &mut unread);
        if !allow_empty && files.is_empty() {
            unread.push(unreadable(
                &shown_name_of_input(path),
                "no manifests in this directory (*.yaml, *.yml, *.json)",
            ));
        }
        unread.into_iter().for_each(|unread| reader.add_unread_in_order(unread));
        for path in files.iter().filter(|path| is_new(path)) {
            reader.read_unless_directory(path);
        }
    }
    reader
}

/// The files of a path, in the order of the reader, and how many files and directories were looked at, of which some are not read.
pub(in crate::cli) fn files_of_path_and_number_looked_at(path: &Path) -> (Vec<PathBuf>, usize) {
    let mut files = Vec::new();
    let looked = add_files_of_path(path, &mut files, &mut Vec::new());
    (files, looked)
}

/// The files of a path, and what cannot be read in a directory.
pub(in crate::cli) fn files_of_path_and_unread(path: &Path) -> (Vec<PathBuf>, Vec<UnreadInput>) {
    let (mut files, mut unread) = (Vec::new(), Vec::new());
    add_files_of_path(path, &mut files, &mut unread);
    (files, unread)
}

/// A number that changes with the names and contents of the files.
pub(in crate::cli) fn fingerprint_of_names_and_contents(paths: &[PathBuf]) -> u64 {
    let mut files = Vec::new();
    for path in paths {
        add_files_of_path(path, &mut files, &mut Vec::new());
    }
    let mut hasher = DefaultHasher::new();
    for file in files {
        file.hash(&mut hasher);
        std::fs::read(&file).ok().hash(&mut hasher);
    }
    hasher.finish()
}

/// Returns how many files and directories were looked at.
fn add_files_of_path(path: &Path, files: &mut Vec<PathBuf>, unread: &mut Vec<UnreadInput>) -> usize {
    if path == Path::new("-") {
        files.push(path.to_path_buf());
        return 1;
    }
    if let Some(message) = why_link_of_repository_is_refused(path) {
        unread.push(unreadable(&shown_name_of_input(path), &message));
        return 1;
    }
    match std::fs::metadata(path) {
        Err(error) => unread.push(unread_because_not_opened(path, &error)),
        Ok(meta) if meta.is_dir() => return add_files_of_directory(path, files, unread),
        Ok(_) => files.push(path.to_path_buf()),
    }
    1
}

/// Files of a directory and of those below it, by name. Returns how many files and directories were looked at.
fn add_files_of_directory(
    directory: &Path,
    files: &mut Vec<PathBuf>,
    unread: &mut Vec<UnreadInput>,
) -> usize {
    let mut search = Search { links: LinksOfDirectory::new(directory), looked: 1, files, unread };
    search.add_files_down_to_depth(directory, Below { depth: 0, hidden: false });
    search.looked
}

/// Where a directory is below the named one.
#[derive(Clone, Copy)]
struct Below {
    depth: usize,
    /// Whether it, or a directory between, is hidden.
    hidden: bool,
}

/// The search of one directory that was named.
struct Search<'f> {
    links: LinksOfDirectory,
    /// Files and directories (count).
    looked: usize,
    files: &'f mut Vec<PathBuf>,
    unread: &'f mut Vec<UnreadInput>,
}

impl Search<'_> {
    fn add_files_down_to_depth(&mut self, directory: &Path, below: Below) {
        let entries = match std::fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(error) => return self.add_unread(directory, &error.to_string()),
        };
        let mut entries: Vec<_> = entries.filter_map(Result::ok).collect();
        // The links of a volume are read before the files that they lead to, so that messages have the names of the keys.
        entries.sort_by_key(|entry| (may_be_version_of_volume(&entry.file_name()), entry.file_name()));
        self.looked += entries.len();
        for entry in entries {
            let (name, path) = (entry.file_name(), entry.path());
            let Ok(kind) = entry.file_type() else { continue };
            let hidden = below.hidden || is_hidden(&name);
            if !kind.is_dir() {
                if EXTENSIONS.iter().any(|end| name.as_encoded_bytes().ends_with(end.as_bytes())) {
                    self.add_file_or_link(path, kind.is_file(), hidden);
                }
            } else if is_git_directory(&name) {
                continue;
            } else if below.depth < MAX_DEPTH {
                self.add_files_down_to_depth(&path, Below { depth: below.depth + 1, hidden });
            } else {
                let message = format!(
                    "this directory is more than {MAX_DEPTH} levels below the named one, so no file in it is read; name this \
                     directory itself"
                );
                self.add_unread(&path, &message);
            }
        }
    }

    fn add_file_or_link(&mut self, path: PathBuf, is_file: bool, hidden: bool) {
        if is_file {
            if !hidden || (!self.links.is_key_of_volume(&path) && is_manifest(&path)) {
                self.files.push(path);
            }
            return;
        }
        match self.links.add_link(&path) {
            Some(Link::Read | Link::Outside(_)) if hidden && !self.links.leads_to_manifest(&path) => {}
            Some(Link::Read) => self.files.push(path),
            Some(Link::Outside(target)) => {
                let message = format!(
                    "the symbolic link leads to {}, which is outside of the directory; name this file itself",
                    target.display()
                );
                self.add_unread(&path, &message);
            }
            Some(Link::TooLong) => self.add_unread(
                &path,
                "links of several directories lead to the same files, which have more than 32 MiB or too many objects in total \
                 when they are read again; name these files themselves",
            ),
            Some(Link::Again) | None => {}
        }
    }

    fn add_unread(&mut self, path: &Path, message: &str) {
        self.unread.push(unreadable(&shown_name_of_input(path), message));
    }
}
