//! Cuts a YAML stream into documents where kubectl cuts it.
//!
//! kubectl splits by lines, before any YAML is parsed (k8s.io/apimachinery, pkg/util/yaml, YAMLReader): every line
//! that starts with `---` separates, in any place, and only blanks and a comment may follow the dashes. A separator with lines
//! before it ends them and is dropped. A separator with nothing before it, at the start of the file or right behind a dropped
//! one, stays as the first line of the document behind it, and its YAML parser ends the comment at other ends of lines too:
//! in `--- # a\rkind: Pod`, the key `kind` counts.

use std::ops::Range;

use super::source_positions::Position;
use super::special_characters::BYTE_ORDER_MARK;

/// The text between two separators.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Byte range in the file.
    pub(super) range: Range<usize>,
    /// Position of its first character.
    pub(super) origin: Position,
    /// The separator line before it cannot be read.
    pub(super) separator: Option<WrongSeparator>,
    /// The separator line before it stays as the first line of the document.
    pub(super) separator_is_kept: bool,
}

/// What is wrong with a separator line; each position is that of the offending text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum WrongSeparator {
    /// Other text than a comment follows the dashes: kubectl stops here.
    NoComment(Position),
    /// The YAML parser of kubectl would read more in this line than a separator with a comment, because of this character.
    PartOfDocument(Position, char),
}

/// The pieces of `bytes` from byte `start` on, whose position is `origin`. Pieces may be blank.
pub(super) struct Pieces<'b> {
    bytes: &'b [u8],
    at: usize,
    origin: Position,
    separator: Option<WrongSeparator>,
    /// Whether kubectl's next document already has a line: the separator before it.
    kept: bool,
    done: bool,
}

/// `continues`: the text begins with a separator that ends the lines before it.
pub(super) fn pieces(bytes: &[u8], start: usize, origin: Position, continues: bool) -> Pieces<'_> {
    Pieces { bytes, at: start, origin, separator: None, kept: continues, done: false }
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
        let separator_is_kept = self.kept;
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
                self.kept = end == start && !self.kept;
                let behind_dashes = Position { column: here.column.saturating_add(3), ..here };
                self.separator = what_is_wrong(after, behind_dashes, self.kept);
                return Some(Piece { range: start..end, origin, separator, separator_is_kept });
            }
        }
        Some(Piece { range: start..self.bytes.len(), origin, separator, separator_is_kept })
    }
}

/// What is wrong with the text behind the dashes, which is at a position; `kept` where kubectl's parser reads it.
fn what_is_wrong(after: &[u8], at: Position, kept: bool) -> Option<WrongSeparator> {
    let text = String::from_utf8_lossy(after);
    let place = |offset: usize| {
        let before = text.get(..offset).unwrap_or_default().chars().count();
        Position { column: at.column.saturating_add(u32::try_from(before).unwrap_or(u32::MAX)), ..at }
    };
    let trimmed = text.trim_start();
    if !trimmed.is_empty() && !trimmed.starts_with('#') {
        return Some(WrongSeparator::NoComment(place(text.len() - trimmed.len())));
    }
    if !kept {
        return None;
    }
    let line = text.trim_end_matches(['\r', '\n']);
    let comment = line.trim_start_matches([' ', '\t']);
    let is_comment = comment.starts_with('#') && comment.len() < line.len();
    let odd = |c: char| c != '\t' && c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | BYTE_ORDER_MARK);
    let wrong = |c: char| !is_comment || odd(c);
    let (offset, character) = comment.char_indices().find(|(_, c)| wrong(*c))?;
    Some(WrongSeparator::PartOfDocument(place(line.len() - comment.len() + offset), character))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Cut<'t> = (&'t str, u32, Option<(u32, u32)>);

    fn cut(text: &str) -> Vec<Cut<'_>> {
        cut_from(text, false)
    }

    fn cut_from(text: &str, continues: bool) -> Vec<Cut<'_>> {
        pieces(text.as_bytes(), 0, Position { line: 1, column: 1 }, continues)
            .map(|piece| {
                let separator = piece.separator.map(|wrong| match wrong {
                    WrongSeparator::NoComment(at) | WrongSeparator::PartOfDocument(at, _) => {
                        (at.line, at.column)
                    }
                });
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

    /// kubectl keeps a separator with nothing before it, and drops one with lines before it.
    #[test]
    fn other_ends_of_lines_in_a_comment() {
        let of = |text: &str| cut(text).into_iter().filter_map(|(_, _, wrong)| wrong).collect::<Vec<_>>();
        for kept in [
            "--- # a\rb",
            "--- # a\u{85}b",
            "--- # a\u{2028}b",
            "--- # a\u{2029}b",
            "--- # a\u{feff}b",
            "---\t#é\u{7f}",
        ] {
            for (before, line) in [("", 1), ("a\n---\n", 3), ("---\n---\n", 3), ("---\n---\n---\n---\n", 5)] {
                let column = if kept.contains('é') { 7 } else { 8 };
                assert_eq!(of(&format!("{before}{kept}\na")), [(line, column)], "{before}{kept}");
            }
            for before in ["a\n", "\n", "---\n", "a\n---\n---\n", "a\n---\nb\n"] {
                assert_eq!(of(&format!("{before}{kept}\na")), [], "{before}{kept}");
            }
            assert_eq!(cut_from(kept, true), [("", 1, None), ("", 2, None)]);
        }
        assert_eq!(of("---#a\n"), [(1, 4)]);
        assert_eq!(of("--- \u{a0}# a\n"), [(1, 5)]);
        assert_eq!(of("--- # a\tb\r\r\n---\n"), []);
    }
}
