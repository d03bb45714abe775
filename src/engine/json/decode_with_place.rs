//! Decoding with a place: if a value does not fit, the error names it as a JSON pointer.

use super::reader;
use crate::text::nearest_if_probably_meant;
use serde::Deserialize;

/// A value of another type than its field has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{pointer}: {message}")]
pub struct DecodeError {
    /// JSON pointer of the value, relative to the object.
    pub pointer: String,
    /// What was found and what was expected.
    pub message: String,
}

impl DecodeError {
    /// The text of the error. The root of a document has no pointer.
    #[must_use]
    pub fn message_with_place(self) -> String {
        if self.pointer.is_empty() { self.message } else { self.to_string() }
    }
}

/// Decodes an object.
///
/// # Errors
/// [`DecodeError`] with the place of the first value that does not fit.
pub fn decode_object<'de, T: Deserialize<'de>>(json: &'de str) -> Result<T, DecodeError> {
    reader::read(json)
        .map_err(|wrong| DecodeError { pointer: wrong.pointer(), message: in_our_words(wrong.message(json)) })
}

/// serde names the types of our own code.
fn in_our_words(message: String) -> String {
    if let Some(message) = not_one_of(&message) {
        return message;
    }
    let Some((head, expected)) = message.split_once("expected ") else { return message };
    let expected = match expected {
        e if e.starts_with("struct ") || e == "a map" => "a mapping",
        "i32" | "i64" | "u32" | "u64" => "a whole number",
        "a sequence" => "a list",
        "a boolean" => "true or false",
        other => other,
    };
    format!("{head}expected {expected}")
}

/// An unknown field or value, with the one that was probably meant. serde's message: unknown field `a`, expected one
/// of `b`, `c`.
fn not_one_of(message: &str) -> Option<String> {
    let (kind, rest) = [("unknown field `", "field"), ("unknown variant `", "value")]
        .into_iter()
        .find_map(|(start, kind)| Some((kind, message.strip_prefix(start)?)))?;
    // The name is the user's and may contain anything; the list is ours and has no backtick.
    let (name, list) = rest.rsplit_once("`, expected ").or_else(|| rest.rsplit_once("`, there are no "))?;
    let known = || list.split('`').skip(1).step_by(2);
    let shown = crate::text::escaped_and_cut(name, 64);
    let hint = match nearest_if_probably_meant(name, known()) {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("expected one of: {}", known().collect::<Vec<_>>().join(", ")),
    };
    Some(format!("unknown {kind} \"{shown}\"; {hint}"))
}
