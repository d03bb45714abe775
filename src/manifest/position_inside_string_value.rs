//! Places inside of a string, as written in the source: JSON in a block scalar, or in quotes.

use super::source_positions::Position;

/// How a scalar is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EscapingOfScalar {
    Single,
    Double,
    /// Plain text and block scalars: nothing is escaped.
    Bare,
}

/// Farthest entry from the start of its line that is followed (characters). A whole List may be on one line, with a
/// thousand such entries.
const MAX_COLUMN: u32 = 4 << 10;

impl Position {
    fn advance_past(&mut self, c: char) {
        if c == '\n' {
            self.line = self.line.saturating_add(1);
            self.column = 1;
        } else {
            self.column = self.column.saturating_add(1);
        }
    }
}

/// A place in the source of a document, and the text from there on. Only what is walked over is checked for UTF-8.
pub(super) struct Cursor<'s> {
    rest: &'s [u8],
    position: Position,
}

impl<'s> Cursor<'s> {
    /// Starts at an entry, in the text from its line on.
    pub(super) fn at(line: &'s [u8], entry: Position) -> Option<Self> {
        if entry.column > MAX_COLUMN {
            return None;
        }
        let mut cursor = Self { rest: line, position: Position { line: entry.line, column: 1 } };
        while cursor.position.column < entry.column {
            cursor.next()?;
        }
        Some(cursor)
    }

    /// Place of the character at a line and column of the string that is the value of the entry. `None` if the source's
    /// style cannot be followed.
    ///
    /// Styles differ in how they indent, fold and escape, and in little else: the non-blank characters have the same
    /// order. So both are walked side by side, without blanks.
    pub(super) fn place_in_source(&mut self, value: &str, spot: (u32, u32)) -> Option<Position> {
        let style = self.go_to_value()?;
        let mut wanted = Position { line: 1, column: 1 };
        let mut last = None;
        for c in value.chars() {
            let reached = (wanted.line, wanted.column) >= spot;
            if !c.is_whitespace() {
                let here = self.step_past_character(c, style)?;
                if reached {
                    return Some(here);
                }
                last = Some(here);
            }
            wanted.advance_past(c);
        }
        last
    }

    fn peek(&self) -> Option<char> {
        first_char(self.rest)
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = self.rest.get(c.len_utf8()..)?;
        self.position.advance_past(c);
        Some(c)
    }

    /// Skips while a condition holds.
    fn skip(&mut self, holds: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&holds) {
            self.next();
        }
    }

    /// Goes from a key to the first character of its value.
    fn go_to_value(&mut self) -> Option<EscapingOfScalar> {
        match self.peek()? {
            quote @ ('"' | '\'') => {
                self.next();
                self.skip(|c| c != quote && c != '\\');
                self.next().filter(|c| *c == quote)?;
                self.skip(|c| c == ' ');
            }
            _ => self.skip(|c| !matches!(c, ':' | '\n')),
        }
        self.next().filter(|c| *c == ':')?;
        self.skip(|c| matches!(c, ' ' | '\t'));
        // Tags and anchors.
        while matches!(self.peek(), Some('!' | '&')) {
            self.skip(|c| !c.is_whitespace());
            self.skip(|c| matches!(c, ' ' | '\t'));
        }
        match self.peek()? {
            '|' | '>' => {
                self.skip(|c| c != '\n');
                Some(EscapingOfScalar::Bare)
            }
            quote @ ('"' | '\'') => {
                self.next();
                Some(if quote == '"' { EscapingOfScalar::Double } else { EscapingOfScalar::Single })
            }
            // An alias: the text is elsewhere.
            '*' => None,
            _ => Some(EscapingOfScalar::Bare),
        }
    }

    /// Moves past a character of the value; returns its place.
    fn step_past_character(&mut self, wanted: char, style: EscapingOfScalar) -> Option<Position> {
        loop {
            self.skip(char::is_whitespace);
            let here = self.position;
            let found = match (self.next()?, style) {
                ('\'', EscapingOfScalar::Single) => self.next().filter(|c| *c == '\'')?,
                ('\\', EscapingOfScalar::Double) => match self.next()? {
                    'x' => self.character_of_escape(2)?,
                    'u' => self.character_of_escape(4)?,
                    'U' => self.character_of_escape(8)?,
                    // Blanks, and a line that continues.
                    'n' | 't' | 'r' | ' ' | '\n' | '_' | 'N' | 'L' | 'P' | '\t' => continue,
                    other => other,
                },
                (c, _) => c,
            };
            if found == wanted {
                return Some(here);
            }
            if !found.is_whitespace() {
                return None;
            }
        }
    }

    fn character_of_escape(&mut self, digits: usize) -> Option<char> {
        let mut code = 0;
        for _ in 0..digits {
            code = code * 16 + self.next()?.to_digit(16)?;
        }
        char::from_u32(code)
    }
}

/// The first character of a text; `None` if it is not UTF-8.
fn first_char(text: &[u8]) -> Option<char> {
    let length = match text.first()? {
        ascii @ 0..0x80 => return Some(char::from(*ascii)),
        0..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0.. => 4,
    };
    std::str::from_utf8(text.get(..length)?).ok()?.chars().next()
}

#[cfg(test)]
mod tests;
