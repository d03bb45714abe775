//! Why a text cannot be read, and where.

use crate::text::json_pointer_token;
use serde::de::{Error, Expected, IgnoredAny, Unexpected};
use std::fmt;

/// The error of the reader. A pointer wide, because every value that is read returns a result of it.
#[derive(Debug)]
pub(crate) struct Wrong(Box<Fault>);

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

impl Wrong {
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
    pub(super) fn part(error: &serde_json::Error) -> Self {
        Self::value(without_position(error))
    }

    /// The same error, seen from the value around.
    #[cold]
    pub(super) fn within(mut self, step: Step) -> Self {
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

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.reason {
            Reason::Syntax => f.write_str("not JSON"),
            Reason::Value(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Wrong {}

/// The messages of serde_json, which names null and numbers as JSON does.
impl Error for Wrong {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::value(message.to_string())
    }

    #[cold]
    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::part(&serde_json::Error::invalid_type(found, expected))
    }

    #[cold]
    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::part(&serde_json::Error::invalid_value(found, expected))
    }
}
