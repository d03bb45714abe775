//! Lines out of chunks of bytes, in bounded memory.

use memchr::memchr;

/// Bytes of a line that are read; the longest line of NCCL has 1024 after its head (NVIDIA/nccl src/debug.cc).
pub const LONGEST_LINE: usize = 4096;

/// Cuts chunks into lines.
#[derive(Debug, Default)]
pub struct Lines {
    /// The line that has begun, up to [`LONGEST_LINE`].
    begun: Vec<u8>,
    /// Whether it was longer.
    cut: bool,
}

/// A line, without its line feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut<'a> {
    /// Its first bytes.
    pub bytes: &'a [u8],
    /// Whether it was longer than [`LONGEST_LINE`].
    pub long: bool,
    /// Whether a line feed ended it; the last line of a log may be half a line.
    pub ended: bool,
}

/// Where a line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Number of the input, from 0.
    pub input: usize,
    /// Line, from 1.
    pub line: u64,
}

impl Lines {
    /// Takes a chunk, and calls `line` for each line that ends in it.
    pub fn push(&mut self, mut chunk: &[u8], mut line: impl FnMut(Cut<'_>)) {
        while let Some(at) = memchr(b'\n', chunk) {
            let (head, rest) = chunk.split_at(at);
            if self.begun.is_empty() && !self.cut {
                let long = head.len() > LONGEST_LINE;
                let bytes = head.get(..LONGEST_LINE).unwrap_or(head);
                line(Cut { bytes, long, ended: true });
            } else {
                self.add(head);
                line(Cut { bytes: &self.begun, long: self.cut, ended: true });
                self.begun.clear();
                self.cut = false;
            }
            chunk = rest.get(1..).unwrap_or_default();
        }
        self.add(chunk);
    }

    /// Ends the log: calls `line` for a last line without a line feed.
    pub fn end_with_unfinished_line(&mut self, mut line: impl FnMut(Cut<'_>)) {
        if !self.begun.is_empty() {
            line(Cut { bytes: &self.begun, long: self.cut, ended: false });
        }
        *self = Self::default();
    }

    fn add(&mut self, bytes: &[u8]) {
        let room = LONGEST_LINE - self.begun.len();
        self.cut |= bytes.len() > room;
        self.begun.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(chunks: &[&[u8]]) -> Vec<(usize, bool, bool)> {
        let (mut lines, mut found) = (Lines::default(), Vec::new());
        chunks.iter().for_each(|chunk| lines.push(chunk, |l| found.push((l.bytes.len(), l.long, l.ended))));
        lines.end_with_unfinished_line(|l| found.push((l.bytes.len(), l.long, l.ended)));
        found
    }

    #[test]
    fn lines_do_not_depend_on_the_chunks() {
        let text = [b"one\ntwo\n\n".as_slice(), &[b'x'; 9000], b"\nlast"].concat();
        let whole = lines(&[&text]);
        let expected = [
            (3, false, true),
            (3, false, true),
            (0, false, true),
            (LONGEST_LINE, true, true),
            (4, false, false),
        ];
        assert_eq!(whole, expected);
        for size in [1, 2, 3, 7, 4096, 4097] {
            let chunks: Vec<&[u8]> = text.chunks(size).collect();
            assert_eq!(lines(&chunks), whole, "chunks of {size}");
        }
        assert!(lines(&[b"a\n", b""]).iter().all(|(_, _, ended)| *ended));
    }

    #[test]
    fn an_endless_line_needs_no_memory() {
        let mut lines = Lines::default();
        for _ in 0..1000 {
            lines.push(&[b'x'; 65536], |_| panic!("no line ends"));
        }
        assert!(lines.begun.capacity() <= 2 * LONGEST_LINE);
    }
}
