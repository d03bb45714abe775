//! The line of a file that a finding is about, with a mark below the place.

use crate::text::{is_unprintable, without_commands_inside_lines};
use std::ops::Range;
use std::sync::OnceLock;
use unicode_width::UnicodeWidthChar;

/// Longest line that is shown (bytes). JSON on one line may have megabytes, which show nothing.
const LONGEST: usize = 2_000;

/// Where each line of a text starts. Most files have no finding, so the table is made when it is first needed.
#[derive(Debug, Default)]
pub struct LineStarts(OnceLock<Vec<usize>>);

/// The text of a file, or of a part of it, by lines.
#[derive(Clone, Copy)]
pub struct LinesOfFile<'a> {
    text: &'a [u8],
    /// The line that the text starts at, from 1.
    first: u32,
    starts: &'a LineStarts,
}

impl<'a> LinesOfFile<'a> {
    /// A text that starts at line `first` of its file, with the table of its lines.
    #[must_use]
    pub fn new(text: &'a [u8], first: u32, starts: &'a LineStarts) -> Self {
        Self { text, first, starts }
    }

    /// Where a line and the next one start.
    fn starts(&self, number: u32) -> Option<(usize, Option<usize>)> {
        let starts = self.starts.0.get_or_init(|| {
            let breaks = memchr::memchr_iter(b'\n', self.text).map(|at| at + 1);
            std::iter::once(0).chain(breaks).collect()
        });
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        Some((*starts.get(index)?, starts.get(index + 1).copied()))
    }

    /// The text from a line of the file on.
    #[must_use]
    pub fn bytes_from_line(&self, number: u32) -> Option<&'a [u8]> {
        self.text.get(self.starts(number)?.0..)
    }

    /// The bytes of a line, without its end.
    #[must_use]
    pub fn line(&self, number: u32) -> Option<&'a [u8]> {
        let (start, next) = self.starts(number)?;
        let line = self.text.get(start..next.map_or(self.text.len(), |next| next - 1))?;
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// A line by its number in the file; `None` for one that is too long to show.
    #[must_use]
    pub fn line_short_enough_to_show(&self, number: u32) -> Option<&'a str> {
        let line = self.line(number)?;
        if line.len() > LONGEST { None } else { std::str::from_utf8(line).ok() }
    }
}

/// The characters of a line, counted from 0, that the key or value at a column (from 1) takes.
#[must_use]
pub fn range_of_key_or_value(line: &str, column: u32) -> Range<usize> {
    let start = usize::try_from(column.saturating_sub(1)).unwrap_or(usize::MAX);
    let rest: Vec<char> = line.chars().skip(start).collect();
    let ends = |at: usize| rest.get(at).is_none_or(|c| matches!(c, ' ' | '\t' | ',' | '}' | ']'));
    let length = match rest.first() {
        Some('{' | '[') => Some(1),
        Some(quote @ ('"' | '\'')) => rest.iter().skip(1).position(|c| c == quote).map(|at| at + 2),
        _ => rest.iter().enumerate().position(|(at, c)| match c {
            ',' | '}' | ']' => at > 0,
            ' ' | '\t' => true,
            ':' => ends(at + 1),
            _ => false,
        }),
    };
    start..start + length.unwrap_or(rest.len()).max(1)
}

/// A line as it is shown, and the line of marks below it.
pub(super) struct Snippet {
    pub(super) line: String,
    pub(super) marks: String,
}

/// At most `width` columns of a line, around the key or value at a column.
pub(super) fn snippet(line: &str, column: u32, width: usize) -> Option<Snippet> {
    let marked = range_of_key_or_value(line, column);
    let line = without_commands_inside_lines(line.trim_end(), "\u{fffd}");
    let mut shown: Vec<(char, usize)> = line.chars().map(visible).collect();
    if marked.start >= shown.len() {
        return None;
    }
    let of = |part: &[(char, usize)]| part.iter().map(|(_, width)| width).sum::<usize>();
    let mut start = 0;
    if of(&shown) > width {
        // The mark is in the first third, since what follows it explains more than what stands before.
        let mut before = 0;
        for (at, (_, columns)) in shown.iter().enumerate().take(marked.start).rev() {
            before += columns;
            if before > width / 3 {
                start = at + 1;
                break;
            }
        }
        let mut used = 2;
        let fits = shown.iter().skip(start).take_while(|(_, columns)| {
            used += columns;
            used <= width
        });
        let end = start + fits.count();
        if end < shown.len() {
            shown.truncate(end);
            shown.push(('…', 1));
        }
    }
    let kept = shown.get(start..)?;
    let ahead = if start == 0 { "" } else { "…" };
    let marks = marked.start - start..marked.end.min(shown.len()).max(marked.start + 1) - start;
    let blank = ahead.chars().count() + of(kept.get(..marks.start)?);
    let line = ahead.chars().chain(kept.iter().map(|(c, _)| *c)).collect();
    let below = of(kept.get(marks)?).max(1);
    Some(Snippet { line, marks: format!("{}{}", " ".repeat(blank), "^".repeat(below)) })
}

/// A character as a terminal may show it. Control characters could rewrite the screen, and those that change the
/// direction could show another text than the file has.
fn visible(c: char) -> (char, usize) {
    match c {
        '\t' => (' ', 1),
        c if is_unprintable(c) => ('\u{fffd}', 1),
        c => (c, c.width().unwrap_or(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str, column: u32, width: usize) -> (String, String) {
        let snippet = snippet(line, column, width).unwrap();
        (snippet.line, snippet.marks)
    }

    #[test]
    fn the_mark_is_below_the_key_or_the_value() {
        for (line, column, marks) in [
            ("  isRdma: true", 3, "  ^^^^^^"),
            ("  - {name: a, value: \"b c\"}", 22, "                     ^^^^^"),
            ("  - {name: a}", 5, "    ^"),
            ("  a:b: c", 3, "  ^^^"),
            ("  x: [1, 2]", 10, "         ^"),
            ("名: 前", 4, "    ^^"),
        ] {
            assert_eq!(shown(line, column, 80), (line.to_owned(), marks.to_owned()), "{line}");
        }
        assert!(snippet("short", 9, 80).is_none());
    }

    #[test]
    fn long_lines_are_cut_around_the_mark() {
        let line = format!("{}mark: {}", "a ".repeat(100), "b ".repeat(100));
        let (shown, marks) = shown(&line, 201, 40);
        assert!(columns(&shown) <= 40, "{shown}");
        assert!(shown.starts_with('…') && shown.ends_with('…'), "{shown}");
        let at = marks.find('^').unwrap();
        assert_eq!(shown.chars().skip(at).take(marks.len() - at).collect::<String>(), "mark");
    }

    #[test]
    fn nothing_rewrites_the_screen() {
        let (shown, marks) = shown("a\u{1b}[2J\tkey\u{202e}: v", 7, 80);
        assert_eq!((shown.as_str(), marks.as_str()), ("a\u{fffd}[2J key\u{fffd}: v", "      ^^^^"));
        assert_eq!(snippet("a: \"##[error]\"", 4, 80).unwrap().line, "a: \"#\u{fffd}[error]\"");
        assert_eq!(snippet("a: \"##vso[x]\"", 4, 80).unwrap().line, "a: \"#\u{fffd}vso[x]\"");
    }

    #[test]
    fn lines_are_found_by_their_number_in_the_file() {
        let starts = LineStarts::default();
        let lines = LinesOfFile::new(b"one\r\ntwo\n\nfour", 7, &starts);
        let all: Vec<_> = (6..12).map(|number| lines.line_short_enough_to_show(number)).collect();
        assert_eq!(all, [None, Some("one"), Some("two"), Some(""), Some("four"), None]);
        assert_eq!((lines.bytes_from_line(6), lines.bytes_from_line(9)), (None, Some(&b"\nfour"[..])));
        let long = format!("{}\nb", "a".repeat(LONGEST + 1));
        let starts = LineStarts::default();
        let lines = LinesOfFile::new(long.as_bytes(), 1, &starts);
        assert_eq!(
            (lines.line_short_enough_to_show(1), lines.line_short_enough_to_show(2)),
            (None, Some("b"))
        );
        assert_eq!(lines.line(1).map(<[u8]>::len), Some(LONGEST + 1));
    }

    fn columns(text: &str) -> usize {
        text.chars().map(|c| c.width().unwrap_or(0)).sum()
    }
}
