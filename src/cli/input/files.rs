//! Files, directories and standard input to documents. An unreadable file does not affect the others.

use super::loaded::{Loaded, name, unreadable};
use super::parts::{Part, Place};
use super::reader::{Reader, Waiting};
use crate::manifest::Document;
use crate::report::Unread;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Extensions that are looked for in directories.
const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];
/// Deepest directory tree that is searched; symbolic links to directories are not followed.
const MAX_DEPTH: usize = 64;

/// Reads files, directories and standard input, and shows each part to `visit` once, in order. An empty standard input is
/// an error unless `allow_empty`: the command before the pipe may have failed. So is a directory without manifests.
pub(in crate::cli) fn read(
    paths: &[PathBuf],
    allow_empty: bool,
    visit: &mut dyn FnMut(&[Document]),
) -> Loaded {
    let mut unread = Vec::new();
    let mut files = Vec::new();
    for path in paths {
        let before = files.len();
        list(path, &mut files, &mut unread);
        if !allow_empty && files.len() == before && path.is_dir() {
            let message = "no manifests in this directory (*.yaml, *.yml, *.json)";
            unread.push((unreadable(&name(path), message), None));
        }
    }
    let mut reader = Reader::new(allow_empty, visit);
    reader.loaded.unread = unread;
    for path in &files {
        reader.file(path);
    }
    reader.decode();
    reader.loaded
}

/// Adds a text that does not come from a file.
pub(in crate::cli) fn add(
    loaded: &mut Loaded,
    name: &str,
    text: Vec<u8>,
    visit: &mut dyn FnMut(&[Document]),
) {
    let mut reader = Reader::new(true, visit);
    reader.loaded = std::mem::take(loaded);
    let part = Part { text, place: Place::Stream, line: 1 };
    reader.waiting.push(Waiting { name: Arc::from(name), part, continues: false, last: true, empty: false });
    reader.decode();
    *loaded = reader.loaded;
}

/// The files of a path, in the order of the reader.
pub(in crate::cli) fn found(path: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    list(path, &mut files, &mut Vec::new());
    files
}

/// A number that changes with the names and contents of the files.
pub(in crate::cli) fn fingerprint(paths: &[PathBuf]) -> u64 {
    let mut files = Vec::new();
    for path in paths {
        list(path, &mut files, &mut Vec::new());
    }
    let mut hasher = DefaultHasher::new();
    for file in files {
        file.hash(&mut hasher);
        std::fs::read(&file).ok().hash(&mut hasher);
    }
    hasher.finish()
}

fn list(path: &Path, files: &mut Vec<PathBuf>, unread: &mut Vec<(Unread, Option<String>)>) {
    if path == Path::new("-") {
        if !files.iter().any(|f| f == path) {
            files.push(path.to_path_buf());
        }
        return;
    }
    match std::fs::metadata(path) {
        Err(error) => {
            let message = match error.kind() {
                io::ErrorKind::NotFound => "no such file or directory".to_owned(),
                _ => error.to_string(),
            };
            unread.push((unreadable(&name(path), &message), None));
        }
        Ok(meta) if meta.is_dir() => walk(path, 0, files, unread),
        Ok(_) => files.push(path.to_path_buf()),
    }
}

/// Files of a directory by name; hidden ones are skipped.
fn walk(
    directory: &Path,
    depth: usize,
    files: &mut Vec<PathBuf>,
    unread: &mut Vec<(Unread, Option<String>)>,
) {
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) => {
            unread.push((unreadable(&name(directory), &error.to_string()), None));
            return;
        }
    };
    let mut entries: Vec<_> = entries.filter_map(Result::ok).collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let path = entry.path();
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            if depth < MAX_DEPTH {
                walk(&path, depth + 1, files, unread);
            }
        } else if path.extension().and_then(|e| e.to_str()).is_some_and(|e| EXTENSIONS.contains(&e))
            && std::fs::metadata(&path).is_ok_and(|m| m.is_file())
        {
            files.push(path);
        }
    }
}
