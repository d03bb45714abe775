//! Cuts a YAML stream into documents where kubectl cuts it.
//!
//! kubectl splits by lines, before any YAML is parsed (k8s.io/apimachinery, pkg/util/yaml, YAMLReader): every line
//! that starts with `---` separates, in any place, and only blanks and a comment may follow the dashes.

use std::ops::Range;

use super::source_positions::Position;

/// The text between two separators.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Byte range in the file.
    pub(super) range: Range<usize>,
    /// Position of its first character.
    pub(super) origin: Position,
    /// The separator line before it cannot be read; its position is that of the offending text.
    pub(super) separator: Option<Position>,
}

/// The pieces of `bytes` from byte `start` on, whose position is `origin`. Pieces may be blank.
pub(super) struct Pieces<'b> {
    bytes: &'b [u8],
    at: usize,
    origin: Position,
    separator: Option<Position>,
    done: bool,
}

pub(super) fn pieces(bytes: &[u8], start: usize, origin: Position) -> Pieces<'_> {
    Pieces { bytes, at: start, origin, separator: None, done: false }
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        if self.done {
            return None;
        }
        let start = self.at;
        let origin = self.origin;
        let separator = self.separator.take();
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            if rest.is_empty() {
                self.done = true;
                break;
            }
            let length = rest.iter().position(|b| *b == b'\n').map_or(rest.len(), |end| end + 1);
            let line = rest.get(..length).unwrap_or_default();
            let here = self.origin;
            let end = self.at;
            self.at += length;
            self.origin = Position { line: here.line.saturating_add(1), column: 1 };
            if let Some(after) = line.strip_prefix(b"---") {
                self.separator = unexpected(after).map(|skipped| Position {
                    line: here.line,
                    column: here.column.saturating_add(3).saturating_add(skipped),
                });
                return Some(Piece { range: start..end, origin, separator });
            }
        }
        Some(Piece { range: start..self.bytes.len(), origin, separator })
    }
}

/// The number of blanks before a text that may not follow a separator.
fn unexpected(after: &[u8]) -> Option<u32> {
    let text = String::from_utf8_lossy(after);
    let trimmed = text.trim_start();
    let blanks = text.len() - trimmed.len();
    let wrong = !trimmed.is_empty() && !trimmed.starts_with('#');
    wrong.then(|| u32::try_from(blanks).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Cut<'t> = (&'t str, u32, Option<(u32, u32)>);

    fn cut(text: &str) -> Vec<Cut<'_>> {
        pieces(text.as_bytes(), 0, Position { line: 1, column: 1 })
            .map(|piece| {
                let separator = piece.separator.map(|at| (at.line, at.column));
                (text.get(piece.range).unwrap(), piece.origin.line, separator)
            })
            .collect()
    }

    #[test]
    fn lines_that_start_with_dashes_separate() {
        assert_eq!(cut(""), [("", 1, None)]);
        assert_eq!(cut("a: 1\n---\nb: 2"), [("a: 1\n", 1, None), ("b: 2", 3, None)]);
        assert_eq!(
            cut("---\na\n--- # c\r\nb\n---"),
            [("", 1, None), ("a\n", 2, None), ("b\n", 4, None), ("", 6, None)]
        );
        assert_eq!(cut(" ---\nb"), [(" ---\nb", 1, None)]);
    }

    #[test]
    fn only_a_comment_may_follow() {
        assert_eq!(cut("a\n---\t#x\nb"), [("a\n", 1, None), ("b", 3, None)]);
        assert_eq!(cut("a\n--- b: 1\nc"), [("a\n", 1, None), ("c", 3, Some((2, 5)))]);
        assert_eq!(cut("-----\nc"), [("", 1, None), ("c", 2, Some((1, 4)))]);
    }
}
