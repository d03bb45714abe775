//! Places inside of a string, as written in the source: JSON in a block scalar, or in quotes.

use super::source_positions::Position;

/// How a scalar is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Single,
    Double,
    /// Plain text and block scalars: nothing is escaped.
    Bare,
}

/// Place of the character at `line` and `column` of a string, whose entry is at `entry` in the source. `None` if the
/// source's style cannot be followed.
///
/// Styles differ in how they indent, fold and escape, and in little else: the non-blank characters have the same
/// order. So both are walked side by side, without blanks.
pub(super) fn place(source: &str, entry: Position, value: &str, line: u32, column: u32) -> Option<Position> {
    let mut at = Cursor::start(source, entry)?;
    let style = at.value()?;
    let mut wanted = Position { line: 1, column: 1 };
    let mut last = None;
    for c in value.chars() {
        let reached = (wanted.line, wanted.column) >= (line, column);
        if !c.is_whitespace() {
            let here = at.take(c, style)?;
            if reached {
                return Some(here);
            }
            last = Some(here);
        }
        wanted.step(c);
    }
    last
}

impl Position {
    fn step(&mut self, c: char) {
        if c == '\n' {
            self.line = self.line.saturating_add(1);
            self.column = 1;
        } else {
            self.column = self.column.saturating_add(1);
        }
    }
}

struct Cursor<'s> {
    rest: std::str::Chars<'s>,
    position: Position,
}

impl<'s> Cursor<'s> {
    fn start(source: &'s str, at: Position) -> Option<Self> {
        let skipped = usize::try_from(at.line).ok()?.checked_sub(1)?;
        let offset: usize = source.split_inclusive('\n').take(skipped).map(str::len).sum();
        let mut cursor =
            Self { rest: source.get(offset..)?.chars(), position: Position { line: at.line, column: 1 } };
        while cursor.position.column < at.column {
            cursor.next()?;
        }
        Some(cursor)
    }

    fn peek(&self) -> Option<char> {
        self.rest.clone().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.next()?;
        self.position.step(c);
        Some(c)
    }

    /// Skips while a condition holds.
    fn skip(&mut self, holds: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&holds) {
            self.next();
        }
    }

    /// Goes from a key to the first character of its value.
    fn value(&mut self) -> Option<Style> {
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
                Some(Style::Bare)
            }
            quote @ ('"' | '\'') => {
                self.next();
                Some(if quote == '"' { Style::Double } else { Style::Single })
            }
            // An alias: the text is elsewhere.
            '*' => None,
            _ => Some(Style::Bare),
        }
    }

    /// Moves past a character of the value; returns its place.
    fn take(&mut self, wanted: char, style: Style) -> Option<Position> {
        loop {
            self.skip(char::is_whitespace);
            let here = self.position;
            let found = match (self.next()?, style) {
                ('\'', Style::Single) => self.next().filter(|c| *c == '\'')?,
                ('\\', Style::Double) => match self.next()? {
                    'x' => self.code(2)?,
                    'u' => self.code(4)?,
                    'U' => self.code(8)?,
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

    fn code(&mut self, digits: usize) -> Option<char> {
        let mut code = 0;
        for _ in 0..digits {
            code = code * 16 + self.next()?.to_digit(16)?;
        }
        char::from_u32(code)
    }
}

#[cfg(test)]
mod tests;
