//! Input that cannot be read: where, why, and the line itself.

use std::sync::Arc;

use super::read_fault::ReadFault;
use super::source_positions::Position;

/// A document, or a part of a file, that cannot be read.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{file}:{line}:{column}: {message}")]
pub struct InputError {
    /// The file as the user named it.
    pub file: Arc<str>,
    /// 1-based line.
    pub line: u32,
    /// 1-based column, in characters.
    pub column: u32,
    /// The problem and its fix.
    pub message: String,
    /// Whether kubectl may read the document all the same.
    pub kubectl_may_read: bool,
    /// The wrong line with its number, and a caret below the column. Control characters are escaped, a long line is
    /// cut around the column.
    pub snippet: String,
}

impl InputError {
    /// An error in `text`, whose first line is `first_line`.
    pub(super) fn new(file: &Arc<str>, text: &[u8], first_line: u32, fault: ReadFault) -> Self {
        let ReadFault { at, message, kubectl_may_read } = fault;
        Self {
            file: Arc::clone(file),
            line: at.line,
            column: at.column,
            message,
            kubectl_may_read,
            snippet: snippet(text, first_line, at),
        }
    }
}

/// How many characters of a line are shown.
const WIDTH: usize = 100;

fn snippet(text: &[u8], first_line: u32, at: Position) -> String {
    let skip = usize::try_from(at.line.saturating_sub(first_line)).unwrap_or(usize::MAX);
    let line = text.split(|b| *b == b'\n').nth(skip).unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let line = String::from_utf8_lossy(line);
    let column = usize::try_from(at.column.saturating_sub(1)).unwrap_or(usize::MAX);
    let length = line.chars().count();
    let column = column.min(length);
    let from = if length <= WIDTH { 0 } else { column.saturating_sub(WIDTH / 2).min(length - WIDTH) };
    let mut shown = String::new();
    let mut caret = 0;
    if from > 0 {
        shown.push('…');
        caret = 1;
    }
    for (number, c) in line.chars().enumerate().skip(from).take(WIDTH) {
        let before = shown.len();
        if c.is_control() || invisible(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
        if number < column {
            caret += shown.get(before..).unwrap_or_default().chars().count();
        }
    }
    if length > from + WIDTH {
        shown.push('…');
    }
    let number = at.line.to_string();
    let margin = " ".repeat(number.len());
    format!("{number} | {shown}\n{margin} | {}^", " ".repeat(caret))
}

/// Characters that change the display of the text around them, or are invisible: they could mislead a reader of the
/// terminal.
fn invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str, line: u32, column: u32) -> String {
        snippet(text.as_bytes(), 1, Position { line, column })
    }

    #[test]
    fn the_line_and_a_caret() {
        assert_eq!(show("a\nbc: d\n", 2, 2), "2 | bc: d\n  |  ^");
        assert_eq!(show("a\nbc: d\r\n", 2, 99), "2 | bc: d\n  |      ^");
        assert_eq!(show("\tx: é\n", 1, 2), "1 | \\tx: é\n  |   ^");
        assert_eq!(show("", 7, 1), "7 | \n  | ^");
        assert_eq!(show("a\u{202e}b\u{1b}", 1, 3), "1 | a\\u{202e}b\\u{1b}\n  |          ^");
    }

    #[test]
    fn long_lines_are_cut_around_the_column() {
        let text = format!("{}X{}", "a".repeat(500), "b".repeat(500));
        let shown = show(&text, 1, 501);
        let (line, caret) = shown.split_once('\n').unwrap();
        assert_eq!(line.chars().count(), 4 + WIDTH + 2);
        assert_eq!(line.chars().position(|c| c == 'X'), caret.chars().position(|c| c == '^'));
    }

    #[test]
    fn display_names_the_place() {
        let fault = ReadFault::new(Position { line: 2, column: 1 }, "wrong");
        let error = InputError::new(&Arc::from("a.yaml"), b"x\ny", 1, fault);
        assert_eq!(error.to_string(), "a.yaml:2:1: wrong");
    }
}
