//! Text that is read a second time: files where they are, streams in a temporary file, short inputs in memory.

use super::parts_of_a_stream::{PartOfInput, WhereToReadAgain};
use crate::pod_agent::{LastLink, open_regular_file};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

/// The first text stays in memory (bytes), although it can be read again: short inputs are read once.
const IN_MEMORY: usize = 4 << 20;

/// A part of an input that can be read again.
pub(super) enum KeptText {
    File {
        path: Arc<Path>,
        start: u64,
        length: usize,
        digest: u64,
    },
    /// In the temporary file, which has no name.
    Spooled {
        file: Arc<File>,
        start: u64,
        length: usize,
    },
    Text(Vec<u8>),
}

impl KeptText {
    /// Bytes.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::File { length, .. } | Self::Spooled { length, .. } => *length,
            Self::Text(text) => text.len(),
        }
    }

    /// Reads it again.
    ///
    /// # Errors
    /// Those of the system, and a text that differs from the first one: facts and documents would not fit together.
    pub(super) fn read_again_and_compare(&self) -> io::Result<Vec<u8>> {
        let exact = |file: &File, start: u64, length: usize| {
            let mut text = vec![0; length];
            file.read_exact_at(&mut text, start)?;
            Ok::<_, io::Error>(text)
        };
        match self {
            Self::File { path, start, length, digest } => {
                match exact(&open_regular_file(path, LastLink::Follow)?, *start, *length) {
                    Ok(text) if self::digest(&text) == *digest => Ok(text),
                    Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => Err(error),
                    _ => Err(io::Error::other("the file changed during the review")),
                }
            }
            Self::Spooled { file, start, length } => exact(file, *start, *length),
            Self::Text(text) => Ok(text.clone()),
        }
    }
}

/// A number that changes with the text, for changes by accident. Eight bytes at once: it takes a hundredth of the time that
/// reading the text as YAML takes.
fn digest(text: &[u8]) -> u64 {
    let mix = |state: u64, word: u64| (state.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    let (words, rest) = text.as_chunks::<8>();
    let state = words.iter().fold(0, |state, word| mix(state, u64::from_le_bytes(*word)));
    rest.iter().fold(state, |state, byte| mix(state, u64::from(*byte)))
}

/// Keeps texts.
#[derive(Default)]
pub(super) struct Spool {
    file: Option<Arc<File>>,
    end: u64,
    /// Bytes so far.
    seen: usize,
}

impl Spool {
    pub(super) fn keep_text_in_file_or_memory(&mut self, part: PartOfInput) -> KeptText {
        let PartOfInput { text, place, .. } = part;
        self.seen = self.seen.saturating_add(text.len());
        if self.seen <= IN_MEMORY {
            return KeptText::Text(text);
        }
        match place {
            WhereToReadAgain::File { path, start } => {
                KeptText::File { path, start, length: text.len(), digest: digest(&text) }
            }
            WhereToReadAgain::Stream => self.write_to_spool_file(&text).unwrap_or(KeptText::Text(text)),
        }
    }

    /// `None` where no file can be written: then the text stays in memory.
    fn write_to_spool_file(&mut self, text: &[u8]) -> Option<KeptText> {
        if self.file.is_none() {
            self.file = Some(Arc::new(unnamed().ok()?));
        }
        let file = Arc::clone(self.file.as_ref()?);
        (&*file).write_all(text).ok()?;
        let start = self.end;
        self.end += text.len() as u64;
        Some(KeptText::Spooled { file, start, length: text.len() })
    }
}

/// A temporary file that only this process has. The system removes it with the process.
fn unnamed() -> io::Result<File> {
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos());
    let path = std::env::temp_dir().join(format!("fabric-admission-{}-{now}", std::process::id()));
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_changes_with_each_byte() {
        let text = b"kind: Pod\nspec: {}";
        for at in 0..text.len() {
            let mut other = *text;
            other[at] ^= 1;
            assert_ne!(digest(text), digest(&other), "{at}");
        }
        assert_ne!(digest(b"ab"), digest(b"a"));
    }
}
