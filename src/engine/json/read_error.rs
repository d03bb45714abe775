//! Why a text cannot be read, and where.

use crate::text::{cut_to_bytes, json_pointer_token};
use serde::de::{Error, Expected, IgnoredAny, Unexpected};
use std::fmt;

/// The error of the reader. A pointer wide, because every value that is read returns a result of it.
#[derive(Debug)]
pub(crate) struct ReadError(Box<Fault>);

#[derive(Debug)]
struct Fault {
    reason: Reason,
    /// The way to the value, innermost first.
    steps: Vec<Step>,
}

#[derive(Debug)]
enum Reason {
    /// The text is not JSON, or not any more.
    Syntax,
    /// The value is JSON and does not fit.
    Value(String),
}

/// A step into a value.
#[derive(Debug)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

impl ReadError {
    fn of(reason: Reason) -> Self {
        Self(Box::new(Fault { reason, steps: Vec::new() }))
    }

    /// The text is not JSON.
    #[cold]
    pub(super) fn syntax() -> Self {
        Self::of(Reason::Syntax)
    }

    /// The value does not fit.
    #[cold]
    pub(super) fn value(message: impl Into<String>) -> Self {
        Self::of(Reason::Value(message.into()))
    }

    /// An error of serde_json about a part of the text.
    #[cold]
    pub(super) fn from_serde_error(error: &serde_json::Error) -> Self {
        Self::value(without_position(error))
    }

    /// The same error, seen from the value around.
    #[cold]
    pub(super) fn with_outer_step(mut self, step: Step) -> Self {
        self.0.steps.push(step);
        self
    }

    /// JSON pointer of the value.
    pub(super) fn pointer(&self) -> String {
        let mut pointer = String::new();
        for step in self.0.steps.iter().rev() {
            pointer.push('/');
            match step {
                Step::Key(key) => pointer.push_str(&json_pointer_token(key)),
                Step::Index(index) => pointer.push_str(&index.to_string()),
            }
        }
        pointer
    }

    /// What is wrong with the value, or with `text`, which was read.
    pub(super) fn message(self, text: &str) -> String {
        match self.0.reason {
            Reason::Value(message) => message,
            Reason::Syntax => match serde_json::from_str::<IgnoredAny>(text) {
                Err(error) => without_position(&error),
                Ok(_) => "invalid value".to_owned(),
            },
        }
    }
}

/// serde_json ends its messages with a position in the JSON text, which is not the user's text.
fn without_position(error: &serde_json::Error) -> String {
    let mut message = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    if message.ends_with(&position) {
        message.truncate(message.len() - position.len());
    }
    message
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.reason {
            Reason::Syntax => f.write_str("not JSON"),
            Reason::Value(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for ReadError {}

/// What a message quotes of a text (bytes). A message quotes with escapes, which takes long for a text of megabytes, and
/// several rules may read the same value.
const MAX_QUOTED: usize = 100;
/// Longest message (bytes).
const MAX_MESSAGE: usize = 1 << 10;

/// The start of a text that was found in place of another type.
struct Quoted<'a>(Unexpected<'a>, String);

impl<'a> Quoted<'a> {
    fn of(found: Unexpected<'a>) -> Self {
        let start = match found {
            Unexpected::Str(text) if text.len() > MAX_QUOTED => {
                format!("{}…", cut_to_bytes(text, MAX_QUOTED))
            }
            _ => String::new(),
        };
        Self(found, start)
    }

    fn shown(&self) -> Unexpected<'_> {
        if self.1.is_empty() { self.0 } else { Unexpected::Str(&self.1) }
    }
}

/// The start of a message.
#[derive(Default)]
struct Start(String);

impl fmt::Write for Start {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let part = cut_to_bytes(text, MAX_MESSAGE.saturating_sub(self.0.len()));
        self.0.push_str(part);
        if part.len() == text.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

/// The messages of serde_json, which names null and numbers as JSON does.
impl Error for ReadError {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> Self {
        use fmt::Write as _;
        let mut start = Start::default();
        // It ends early where the message is too long.
        let _ = write!(start, "{message}");
        Self::value(start.0)
    }

    #[cold]
    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::from_serde_error(&serde_json::Error::invalid_type(Quoted::of(found).shown(), expected))
    }

    #[cold]
    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::from_serde_error(&serde_json::Error::invalid_value(Quoted::of(found).shown(), expected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_about_long_texts_are_short() {
        let text = "\u{200b}".repeat(1 << 20);
        let wrong = ReadError::invalid_type(Unexpected::Str(&text), &"a boolean");
        let message = wrong.message("");
        assert!(message.len() < 2 * MAX_MESSAGE && message.ends_with("expected a boolean"), "{message}");
        assert!(ReadError::custom(&text).message("").len() <= MAX_MESSAGE);
        assert_eq!(ReadError::custom("é").message(""), "é");
    }
}
