//! Two spellings that kubectl reads and the YAML parser does not.
//!
//! go-yaml accepts `\'` in double quotes (libyaml does not), and in a flow collection it takes `{a:}` and `[a:,b]` as
//! the plain scalar `a:`. Both are scanner errors here. The offending character is then replaced by a stand-in of the
//! same width in columns, the text is read again, and the scalars get the original back.

use libyaml_safer::ScalarStyle;

/// Most times that a text is read again for colons: for all of them, and then for single ones that are hard to recognize.
/// A text may have megabytes.
const ATTEMPTS: usize = 4;

/// A text with stand-ins.
pub(super) struct RepairedText {
    text: String,
    colon: char,
    backslash: char,
    attempts: usize,
    escapes_done: bool,
}

impl RepairedText {
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
    pub(super) fn replace_character_that_stopped_parser(&mut self, problem: &str, at: usize) -> bool {
        match problem {
            "found unexpected ':'" if self.attempts < ATTEMPTS => {
                self.attempts += 1;
                let stopped = self.text.get(at..).is_some_and(|rest| rest.starts_with(':'));
                match (stopped, self.attempts) {
                    (true, 1) => self.replace_colons(at),
                    (true, _) => self.text.replace_range(at..=at, self.colon.encode_utf8(&mut [0; 4])),
                    (false, _) => {}
                }
                stopped
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
    pub(super) fn give_original_characters_back(&self, value: &mut String, style: ScalarStyle) {
        if value.contains([self.colon, self.backslash]) {
            let escape = if style == ScalarStyle::DoubleQuoted { "" } else { "\\" };
            *value = value.replace(self.colon, ":").replace(self.backslash, escape);
        }
    }

    /// The colon that stopped the parser, and all behind it that would stop it as well: those that end a plain scalar. Some
    /// of them are in quotes or comments, which does no harm: scalars get them back.
    fn replace_colons(&mut self, at: usize) {
        let (before, rest) = self.text.split_at(at);
        let mut text = String::with_capacity(self.text.len() + 16);
        text.push_str(before);
        text.push(self.colon);
        let mut chars = rest.chars().peekable();
        let mut last = chars.next();
        // The first character of the word: a plain scalar cannot begin with it.
        let mut first = Some('a');
        while let Some(c) = chars.next() {
            let ends = c == ':' && matches!(chars.peek(), Some(',' | ']' | '}'));
            let plain = first.is_some_and(|c| !matches!(c, '"' | '\'' | '*' | '&' | '!'));
            let quoted = matches!(last, Some('"' | '\''));
            text.push(if ends && plain && !quoted { self.colon } else { c });
            first = match c {
                ',' | '[' | ']' | '{' | '}' => None,
                _ if c.is_whitespace() => None,
                _ => first.or(Some(c)),
            };
            last = Some(c);
        }
        self.text = text;
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
