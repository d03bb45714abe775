//! Files, directories and standard input to documents. An unreadable file does not affect the others.

use super::{File, Loaded};
use crate::manifest::{self, Item};
use crate::report::{Skipped, Source, Unread};
use crate::text::count;
use rayon::prelude::*;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Extensions that are looked for in directories.
const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];
/// Deepest directory tree that is searched; symbolic links to directories are not followed.
const MAX_DEPTH: usize = 64;

/// Reads files, directories and standard input. An empty standard input is an error unless `allow_empty`: the command
/// before the pipe may have failed. So is a directory without manifests.
pub(in crate::cli) fn read(paths: &[PathBuf], allow_empty: bool) -> Loaded {
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
    let read: Vec<_> = files.par_iter().map(|path| read_one(path)).collect();
    let mut loaded = Loaded { files: Vec::with_capacity(read.len()), unread, skipped: Vec::new() };
    for (path, one) in files.iter().zip(read) {
        match one {
            Err(error) => loaded.unread.push((unreadable(&name(path), &error.to_string()), None)),
            Ok((text, _)) if !allow_empty && path == Path::new("-") && text.trim_ascii().is_empty() => {
                let message = "standard input is empty: the command before the pipe may have failed; --allow-empty \
                               accepts it";
                loaded.unread.push((unreadable(&name(path), message), None));
            }
            Ok((text, items)) => keep(&mut loaded, text, items),
        }
    }
    loaded
}

/// Adds a text that does not come from a file.
pub(in crate::cli) fn add(loaded: &mut Loaded, name: &str, text: Vec<u8>) {
    let items = manifest::read(name, &text);
    keep(loaded, text, items);
}

fn keep(loaded: &mut Loaded, text: Vec<u8>, items: Vec<Item>) {
    let mut documents = Vec::new();
    // Every document of a template fails for the same reason: the first is reported, and the others are counted.
    let mut templates: Vec<(&str, usize, usize)> = Vec::new();
    for item in items {
        match item {
            Item::Document(document) => documents.push(document),
            Item::Error(error) => {
                let cause = manifest::template_cause(&error.message);
                if let Some((.., more)) = templates.iter_mut().find(|(known, ..)| Some(*known) == cause) {
                    *more += 1;
                    continue;
                }
                templates.extend(cause.map(|cause| (cause, loaded.unread.len(), 0)));
                let unread = Unread {
                    file: error.file.to_string(),
                    line: error.line,
                    column: error.column,
                    message: error.message,
                };
                loaded.unread.push((unread, Some(error.snippet)));
            }
            Item::Empty { file, index, line, reason } => {
                let source = Source { file: file.to_string(), document: index, line, pointer: String::new() };
                loaded.skipped.push(Skipped { source, reason: reason.to_owned() });
            }
        }
    }
    for (_, index, more) in templates.into_iter().filter(|(.., more)| *more > 0) {
        if let Some((unread, _)) = loaded.unread.get_mut(index) {
            let others = count(more, "more document");
            unread.message.push_str(&format!(" ({others} of this file)"));
        }
    }
    loaded.files.push(File { text, documents });
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

fn read_one(path: &Path) -> io::Result<(Vec<u8>, Vec<Item>)> {
    let text = if path == Path::new("-") {
        let mut text = Vec::new();
        io::stdin().lock().read_to_end(&mut text)?;
        text
    } else {
        std::fs::read(path)?
    };
    let items = manifest::read(&name(path), &text);
    Ok((text, items))
}

fn name(path: &Path) -> String {
    if path == Path::new("-") { "<stdin>".to_owned() } else { path.display().to_string() }
}

fn unreadable(file: &str, message: &str) -> Unread {
    Unread { file: file.to_owned(), line: 1, column: 1, message: message.to_owned() }
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
