//! Inputs in parts of bounded size: a stream of a million documents is read piece by piece, and never held as a whole.

use memchr::memmem;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// About how long a part is (bytes). It ends before a line that separates documents.
const PART: usize = 256 << 10;
/// Largest document (bytes). A List of all nodes of a large cluster has tens of megabytes.
const MAX_DOCUMENT: usize = 256 << 20;

/// A part of an input: whole documents, as they were read.
pub(super) struct PartOfInput {
    pub(super) text: Vec<u8>,
    pub(super) place: WhereToReadAgain,
    /// The line that it starts at, from 1.
    pub(super) line: u32,
}

/// Where a part can be read again.
pub(super) enum WhereToReadAgain {
    File {
        path: Arc<Path>,
        start: u64,
    },
    /// Of an input that can be read once only.
    Stream,
}

/// The parts of one input.
pub(super) struct PartReader {
    path: Arc<Path>,
    reader: Box<dyn Read>,
    /// Whether it can be read again.
    regular: bool,
    /// Whether it starts as JSON, and its first separator has not been read. JSON values have no separators between them; the
    /// first one is of the part with the values, because kubectl reads it differently behind JSON (see `read_documents`).
    json: Option<bool>,
    rest: Vec<u8>,
    start: u64,
    line: u32,
    ended: bool,
}

impl PartReader {
    /// Opens an input; `None` for a directory.
    pub(super) fn open(path: &Path) -> io::Result<Option<Self>> {
        let (reader, regular): (Box<dyn Read>, bool) = match path == Path::new("-") {
            true => (Box::new(io::stdin()), false),
            false => {
                let file = File::open(path)?;
                let kind = file.metadata()?.file_type();
                if kind.is_dir() {
                    return Ok(None);
                }
                (Box::new(file), kind.is_file())
            }
        };
        let path = Arc::from(path);
        let (rest, ended) = (Vec::new(), false);
        Ok(Some(Self { path, reader, regular, json: None, rest, start: 0, line: 1, ended }))
    }

    /// Whether all of it has been read.
    pub(super) fn ended(&self) -> bool {
        self.ended
    }

    /// The line that the next part starts at.
    pub(super) fn line(&self) -> u32 {
        self.line
    }

    /// The next part; an empty input has one empty part.
    ///
    /// # Errors
    /// Those of the system, and a document above the limit.
    pub(super) fn next(&mut self) -> io::Result<Option<PartOfInput>> {
        if self.ended {
            return Ok(None);
        }
        let mut text = std::mem::take(&mut self.rest);
        let mut searched = 0;
        loop {
            if text.len() > MAX_DOCUMENT {
                self.ended = true;
                let message =
                    format!("a document is larger than {} MiB; split the document", MAX_DOCUMENT >> 20);
                return Err(io::Error::other(message));
            }
            let read = self.reader.by_ref().take(PART as u64).read_to_end(&mut text);
            if read.inspect_err(|_| self.ended = true)? == 0 {
                self.ended = true;
                break;
            }
            let json = self.json.get_or_insert_with(|| is_json(&text));
            if text.len() < PART {
                continue;
            }
            if *json {
                let unread = text.get(searched..).unwrap_or_default();
                let Some(at) = memmem::find(unread, b"\n---") else {
                    searched = text.len().saturating_sub(4);
                    continue;
                };
                *json = false;
                searched += at + 1;
            }
            if let Some(end) = last_separator(&text, searched) {
                self.rest = text.split_off(end);
                break;
            }
            searched = searched.max(text.len().saturating_sub(4));
        }
        let (start, line) = (self.start, self.line);
        self.start += text.len() as u64;
        let lines = text.iter().filter(|byte| **byte == b'\n').count();
        self.line = line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
        let place = match self.regular {
            true => WhereToReadAgain::File { path: Arc::clone(&self.path), start },
            false => WhereToReadAgain::Stream,
        };
        Ok(Some(PartOfInput { text, place, line }))
    }
}

/// Whether a text starts as JSON does.
fn is_json(text: &[u8]) -> bool {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii_start().starts_with(b"{")
}

/// The start of the last line that separates documents, as kubectl finds them: it starts with `---`. Never right behind another
/// such line: whether kubectl drops or keeps it then depends on how many there are (see `split_documents`).
fn last_separator(text: &[u8], from: usize) -> Option<usize> {
    let mut end = text.len();
    loop {
        let at = from + text.get(from..end)?.windows(4).rposition(|window| window == b"\n---")?;
        let line = text.get(..at)?.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        if !line.starts_with(b"---") {
            return Some(at + 1);
        }
        end = at + 3;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &'static [u8]) -> Vec<(usize, u32)> {
        let mut parts = PartReader::open(Path::new("/dev/null")).unwrap().unwrap();
        parts.reader = Box::new(text);
        let mut found = Vec::new();
        while let Some(part) = parts.next().unwrap() {
            found.push((part.text.len(), part.line));
        }
        found
    }

    #[test]
    fn parts_end_before_separators() {
        assert_eq!(parts(b""), [(0, 1)]);
        assert_eq!(parts(b"a: 1\n---\nb: 2\n"), [(14, 1)]);
        let document = format!("---\na: {}\n", "x".repeat(PART / 2));
        let length = document.len();
        let text: &'static [u8] = Vec::leak(document.repeat(3).into_bytes());
        let found = parts(text);
        assert_eq!(found.iter().map(|(length, _)| length).sum::<usize>(), 3 * length);
        assert_eq!(found.iter().map(|(_, line)| *line).collect::<Vec<_>>(), [1, 3, 5]);
        // A separator behind another one may belong to its document.
        let document = format!("---\n---\na: {}\n", "x".repeat(PART / 2));
        let text: &'static [u8] = Vec::leak(document.repeat(3).into_bytes());
        assert_eq!(parts(text).iter().map(|(_, line)| *line).collect::<Vec<_>>(), [1, 4, 7]);
        // JSON has no separators, and its reader has to see where it ends.
        let text: &'static [u8] = Vec::leak(format!("{{}}\n---\n{}", "x".repeat(PART * 2)).into_bytes());
        assert_eq!(parts(text).len(), 1);
        let text: &'static [u8] =
            Vec::leak(format!("{{}}{}\n---\n---\na: 1\n", " ".repeat(PART * 2)).into_bytes());
        assert_eq!(parts(text).len(), 1);
        for between in [1, PART * 2] {
            let text = format!("{{}}{}\n---\n{}", " ".repeat(between), "a: 1\n---\n".repeat(PART));
            let found = parts(Vec::leak(text.into_bytes()));
            assert_eq!(found.iter().map(|(length, _)| length).sum::<usize>(), 7 + between + 9 * PART);
            assert!(found.iter().all(|(length, _)| *length <= between + 2 * PART), "{found:?}");
        }
    }
}
