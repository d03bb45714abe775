//! The files of NCCL in a folder, read as they grow.

use crate::nccl_log::{Lines, Log, Place};
use crate::pod_agent::{LastLink, open_regular_file};
use crate::rdma::Unreadable;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Most entries of the folder, most files that are read, and most bytes of a scrape.
const MOST_ENTRIES: usize = 4096;
const MOST_FILES: usize = 64;
const MOST_BYTES: u64 = 8 << 20;

/// What was read so far.
#[derive(Debug, Default)]
pub(super) struct FollowedLogs {
    files: BTreeMap<PathBuf, Reading>,
    pub(super) log: Log,
    /// Whether the log started again from its beginning, ever.
    pub(super) restarted: bool,
}

#[derive(Debug, Default)]
struct Reading {
    /// Device and inode: a rotated log has another file behind the same name.
    identity: (u64, u64),
    offset: u64,
    line: u64,
    lines: Lines,
}

/// Files that could not be read, with the reasons.
type Unread = Vec<(String, Unreadable)>;

fn identity(metadata: &fs::Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// Keeps the reason. A log that does not exist yet is usual at the start.
fn keep_reason_why_unreadable(path: &Path, error: &io::Error, unreadable: &mut Unread) {
    let words = error.to_string();
    let why =
        Unreadable::of_errno(error.raw_os_error(), words.split(" (os error").next().unwrap_or_default());
    if why != Unreadable::Missing {
        unreadable.push((path.display().to_string(), why));
    }
}

impl FollowedLogs {
    /// Reads what the files have more than before. A file that is shorter than before was truncated, and a file that is
    /// gone or is another file was rotated or replaced, as by a restarted container: the log starts again from its
    /// beginning.
    pub(super) fn read_growth_or_start_again(&mut self, folder: &Path, unreadable: &mut Unread) {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                // The files that were read are gone with the folder.
                if !self.files.is_empty() {
                    *self = Self { restarted: true, ..Self::default() };
                }
                return keep_reason_why_unreadable(folder, &error, unreadable);
            }
        };
        let entry =
            |entry: fs::DirEntry| Some((entry.path(), entry.metadata().ok().filter(fs::Metadata::is_file)?));
        let found: BTreeMap<PathBuf, fs::Metadata> =
            entries.filter_map(Result::ok).take(MOST_ENTRIES).filter_map(entry).collect();
        let is_other = |(path, file): (&PathBuf, &Reading)| {
            found.get(path).is_none_or(|now| now.len() < file.offset || identity(now) != file.identity)
        };
        if self.files.iter().any(is_other) {
            *self = Self { restarted: true, ..Self::default() };
        }
        // A file that was read before keeps its place: a new name must not push it out.
        let (known, new): (Vec<_>, Vec<_>) =
            found.iter().partition(|(path, _)| self.files.contains_key(*path));
        let mut left = MOST_BYTES;
        for (path, metadata) in known.into_iter().chain(new).take(MOST_FILES) {
            let file = self.files.entry(path.clone()).or_default();
            file.identity = identity(metadata);
            let new = metadata.len().saturating_sub(file.offset).min(left);
            if new == 0 {
                continue;
            }
            // A container may replace the file at any time, also by a pipe.
            let opened = open_regular_file(path, LastLink::Refuse).and_then(|mut opened| {
                let same = identity(&opened.metadata()?) == file.identity;
                opened.seek(SeekFrom::Start(file.offset))?;
                Ok(same.then_some(opened))
            });
            let mut opened = match opened {
                Ok(Some(opened)) => opened,
                // Another file by now: the next scrape starts again.
                Ok(None) => continue,
                Err(error) => {
                    keep_reason_why_unreadable(path, &error, unreadable);
                    continue;
                }
            };
            let mut buffer = vec![0; 64 << 10];
            let mut rest = new;
            while rest > 0 {
                let most = usize::try_from(rest).unwrap_or(usize::MAX).min(buffer.len());
                let Some(part) = buffer.get_mut(..most) else { break };
                let length = match opened.read(part) {
                    Ok(0) => break,
                    Ok(length) => length,
                    Err(error) => {
                        keep_reason_why_unreadable(path, &error, unreadable);
                        break;
                    }
                };
                let Reading { lines, line, .. } = file;
                lines.push(buffer.get(..length).unwrap_or_default(), |cut| {
                    *line += u64::from(cut.begins_line);
                    self.log.add_line(cut, Place { input: 0, line: *line });
                });
                file.offset += length as u64;
                rest = rest.saturating_sub(length as u64);
            }
            left -= new - rest;
        }
    }
}
