//! Two spellings that kubectl reads and the YAML parser does not.
//!
//! go-yaml accepts `\'` in double quotes (libyaml does not), and in a flow collection it takes `{a:}` and `[a:,b]` as
//! the plain scalar `a:`. Both are scanner errors here. The offending character is then replaced by a stand-in of the
//! same width in columns, the text is read again, and the scalars get the original back.

use libyaml_safer::ScalarStyle;

/// Most times that a text is read again for a colon, one colon each time.
const ATTEMPTS: usize = 32;

/// A text with stand-ins.
pub(super) struct Repair {
    text: String,
    colon: char,
    backslash: char,
    attempts: usize,
    escapes_done: bool,
}

impl Repair {
    /// Prepares stand-ins that the text does not contain.
    pub(super) fn new(text: &str) -> Option<Self> {
        let mut free = ('\u{e000}'..='\u{f8ff}').filter(|c| !text.contains(*c));
        let (colon, backslash) = (free.next()?, free.next()?);
        Some(Self { text: text.to_owned(), colon, backslash, attempts: 0, escapes_done: false })
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Replaces the character that stopped the parser at byte `at`; `false` if that is not a known case.
    pub(super) fn apply(&mut self, problem: &str, at: usize) -> bool {
        match problem {
            "found unexpected ':'" if self.attempts < ATTEMPTS => {
                self.attempts += 1;
                self.replace(at, ':', self.colon)
            }
            "found unknown escape character" if !self.escapes_done => {
                self.escapes_done = true;
                let stopped = self.text.get(at..).is_some_and(|rest| rest.starts_with("\\'"));
                if stopped {
                    self.replace_escapes();
                }
                stopped
            }
            _ => false,
        }
    }

    /// Gives a scalar its original characters back.
    pub(super) fn restore(&self, value: &mut String, style: ScalarStyle) {
        if value.contains([self.colon, self.backslash]) {
            let escape = if style == ScalarStyle::DoubleQuoted { "" } else { "\\" };
            *value = value.replace(self.colon, ":").replace(self.backslash, escape);
        }
    }

    fn replace(&mut self, at: usize, old: char, new: char) -> bool {
        let found = self.text.get(at..).is_some_and(|rest| rest.starts_with(old));
        if found {
            self.text.replace_range(at..at + old.len_utf8(), new.encode_utf8(&mut [0; 4]));
        }
        found
    }

    /// All of them at once: in styles other than double quotes the backslash is restored.
    fn replace_escapes(&mut self) {
        let mut text = String::with_capacity(self.text.len() + 16);
        let mut chars = self.text.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\\' if chars.peek() == Some(&'\'') => text.push(self.backslash),
                '\\' => {
                    text.push(c);
                    if chars.peek() == Some(&'\\') {
                        text.push('\\');
                        chars.next();
                    }
                }
                _ => text.push(c),
            }
        }
        self.text = text;
    }
}

#[cfg(test)]
mod tests;
