//! Decoding with a place: if a value does not fit, the error names it as a JSON pointer.

use super::reader;
use crate::text::{nearest, token};
use serde::Deserialize;
use serde_path_to_error::Segment;

/// A value of another type than its field has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{pointer}: {message}")]
pub struct DecodeError {
    /// JSON pointer of the value, relative to the object.
    pub pointer: String,
    /// What was found and what was expected.
    pub message: String,
}

/// Decodes an object. A text that is refused is read again, for the path of the wrong value: the good case pays nothing
/// for it.
///
/// # Errors
/// [`DecodeError`] with the place of the first value that does not fit.
pub fn object<'de, T: Deserialize<'de>>(json: &'de str) -> Result<T, DecodeError> {
    if let Some(value) = reader::read(json) {
        return Ok(value);
    }
    let mut deserializer = serde_json::Deserializer::from_str(json);
    serde_path_to_error::deserialize::<_, T>(&mut deserializer).map_err(|error| {
        let mut pointer = String::new();
        for segment in error.path() {
            match segment {
                Segment::Map { key } => {
                    pointer.push('/');
                    pointer.push_str(&token(key));
                }
                Segment::Seq { index } => pointer.push_str(&format!("/{index}")),
                Segment::Enum { .. } | Segment::Unknown => {}
            }
        }
        DecodeError { pointer, message: without_position(&error.inner().to_string()) }
    })
}

/// serde_json ends its messages with a position in the JSON text, which is not the user's text, and names our own
/// types.
fn without_position(message: &str) -> String {
    let cut = message.rfind(" at line ").unwrap_or(message.len());
    let message = message.get(..cut).unwrap_or(message);
    if let Some(message) = not_one_of(message) {
        return message;
    }
    let Some((head, expected)) = message.split_once("expected ") else { return message.to_owned() };
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
    let shown = crate::text::printable(name, 64);
    let hint = match nearest(name, known()) {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("expected one of: {}", known().collect::<Vec<_>>().join(", ")),
    };
    Some(format!("unknown {kind} \"{shown}\"; {hint}"))
}
