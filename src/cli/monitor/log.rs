//! The files of NCCL in a folder, read as they grow.

use crate::nccl_log::{Lines, Log, Place};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Most files of the folder, and most bytes of a scrape.
const MOST_FILES: usize = 64;
const MOST_BYTES: u64 = 8 << 20;

/// What was read so far.
#[derive(Debug, Default)]
pub(super) struct Followed {
    files: BTreeMap<PathBuf, Reading>,
    pub(super) log: Log,
}

#[derive(Debug, Default)]
struct Reading {
    offset: u64,
    line: u64,
    lines: Lines,
}

impl Followed {
    /// Reads what the files have more than before. A file that is shorter than before was truncated or replaced, as by a
    /// restarted container: the log starts again from its beginning.
    pub(super) fn read(&mut self, folder: &Path) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        let mut paths: Vec<(PathBuf, u64)> = entries
            .filter_map(Result::ok)
            .filter_map(|entry| {
                entry.metadata().ok().filter(fs::Metadata::is_file).map(|m| (entry.path(), m.len()))
            })
            .take(MOST_FILES)
            .collect();
        paths.sort();
        let shorter =
            |(path, length): &(PathBuf, u64)| self.files.get(path).is_some_and(|f| *length < f.offset);
        if paths.iter().any(shorter) {
            *self = Self::default();
        }
        let mut left = MOST_BYTES;
        for (path, length) in paths {
            let file = self.files.entry(path.clone()).or_default();
            let new = length.saturating_sub(file.offset).min(left);
            if new == 0 {
                continue;
            }
            let Ok(mut opened) = File::open(&path) else { continue };
            if opened.seek(SeekFrom::Start(file.offset)).is_err() {
                continue;
            }
            let mut buffer = vec![0; 64 << 10];
            let mut rest = new;
            while rest > 0 {
                let most = usize::try_from(rest).unwrap_or(usize::MAX).min(buffer.len());
                let Some(part) = buffer.get_mut(..most) else { break };
                let Ok(length @ 1..) = opened.read(part) else { break };
                let Reading { lines, line, .. } = file;
                lines.push(buffer.get(..length).unwrap_or_default(), |cut| {
                    *line += 1;
                    self.log.add(cut, Place { input: 0, line: *line });
                });
                file.offset += length as u64;
                rest = rest.saturating_sub(length as u64);
            }
            left -= new - rest;
        }
    }
}
