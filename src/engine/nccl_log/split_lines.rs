//! Lines out of chunks of bytes, in bounded memory.

use memchr::memchr2;

/// Bytes of a line that are read; the longest line of NCCL has 1024 after its head (NVIDIA/nccl src/debug.cc).
pub const LONGEST_LINE: usize = 4096;

/// Cuts chunks into lines. A carriage return ends a part of a line: a progress bar is drawn again behind it, and may be followed by
/// other text without a line feed between them.
#[derive(Debug, Default)]
pub struct Lines {
    /// The part that has begun, up to [`LONGEST_LINE`].
    begun: Vec<u8>,
    /// Whether it was longer.
    cut: bool,
    /// Whether another part of the same line came before.
    within: bool,
    /// Whether a carriage return was the last byte so far: with a line feed, it ends the line.
    returned: bool,
}

/// A part of a line, without what ended it. Nearly all lines have one part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut<'a> {
    /// Whether a line begins with it, for the numbers of lines.
    pub begins_line: bool,
    /// Its first bytes.
    pub bytes: &'a [u8],
    /// Whether it was longer than [`LONGEST_LINE`].
    pub long: bool,
    /// Whether a line feed or a carriage return ended it; the last line of a log may be half a line.
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
    /// Takes a chunk, and calls `part` for each part of a line that ends in it.
    pub fn push(&mut self, mut chunk: &[u8], mut part: impl FnMut(Cut<'_>)) {
        if let Some(first) = chunk.first()
            && std::mem::take(&mut self.returned)
            && *first != b'\n'
        {
            self.end(b"", true, &mut part);
        }
        while let Some(at) = memchr2(b'\n', b'\r', chunk) {
            let (head, rest) = chunk.split_at(at);
            chunk = match rest {
                [b'\r'] => {
                    self.add(head);
                    self.returned = true;
                    return;
                }
                [b'\r', b'\n', rest @ ..] | [b'\n', rest @ ..] => {
                    self.end(head, false, &mut part);
                    rest
                }
                _ => {
                    self.end(head, true, &mut part);
                    rest.get(1..).unwrap_or_default()
                }
            };
        }
        self.add(chunk);
    }

    /// Ends a part of a line, of which this came last.
    fn end(&mut self, last: &[u8], by_return: bool, part: &mut impl FnMut(Cut<'_>)) {
        let begins_line = !std::mem::replace(&mut self.within, by_return);
        if self.begun.is_empty() && !self.cut {
            let long = last.len() > LONGEST_LINE;
            let bytes = last.get(..LONGEST_LINE).unwrap_or(last);
            return part(Cut { begins_line, bytes, long, ended: true });
        }
        self.add(last);
        part(Cut { begins_line, bytes: &self.begun, long: self.cut, ended: true });
        self.begun.clear();
        self.cut = false;
    }

    /// Ends the log: calls `part` for a last line without a line feed.
    pub fn end_with_unfinished_line(&mut self, mut part: impl FnMut(Cut<'_>)) {
        if !self.begun.is_empty() {
            part(Cut { begins_line: !self.within, bytes: &self.begun, long: self.cut, ended: false });
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
    fn a_carriage_return_ends_a_part_of_a_line() {
        let text = b"\rEpoch 1\rEpoch 2\rhost NCCL\r\n\r\nnext\n\r";
        let parts = |chunks: &[&[u8]]| {
            let (mut lines, mut found, mut number) = (Lines::default(), Vec::new(), 0);
            let mut add = |cut: Cut<'_>| {
                number += u32::from(cut.begins_line);
                found.push((number, String::from_utf8_lossy(cut.bytes).into_owned(), cut.ended));
            };
            chunks.iter().for_each(|chunk| lines.push(chunk, &mut add));
            lines.end_with_unfinished_line(&mut add);
            found
        };
        let whole = parts(&[text]);
        let expected = [(1, ""), (1, "Epoch 1"), (1, "Epoch 2"), (1, "host NCCL"), (2, ""), (3, "next")];
        assert_eq!(whole, expected.map(|(number, part)| (number, part.to_owned(), true)));
        for size in 1..=9 {
            let chunks: Vec<&[u8]> = text.chunks(size).collect();
            assert_eq!(parts(&chunks), whole, "chunks of {size}");
        }
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
