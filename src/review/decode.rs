//! Decoding with a place: where a value does not fit, the error says which, as a JSON pointer.

use crate::text::token;
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

/// Decodes an object. The path of a misfit is worked out in a second pass, so that the good case pays
/// nothing for it.
///
/// # Errors
/// [`DecodeError`] with the place of the first value that does not fit.
pub fn object<'de, T: Deserialize<'de>>(json: &'de str) -> Result<T, DecodeError> {
    serde_json::from_str(json).or_else(|first| {
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
            DecodeError { pointer, message: without_position(&first.to_string()) }
        })
    })
}

/// serde_json ends its messages with a position in the JSON text, which is not the user's text, and names the
/// types of ours that it could not fill.
fn without_position(message: &str) -> String {
    let cut = message.rfind(" at line ").unwrap_or(message.len());
    let message = message.get(..cut).unwrap_or(message);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::PodView;

    #[test]
    fn names_the_place() {
        let error = object::<PodView<'_>>(r#"{"spec":{"containers":[{"env":[{"name":"A","value":1}]}]}}"#)
            .unwrap_err();
        assert_eq!(error.pointer, "/spec/containers/0/env/0/value");
        assert_eq!(error.message, "invalid type: integer `1`, expected a string");
    }

    #[test]
    fn a_list_is_no_mapping() {
        for (json, pointer) in [
            (r#"{"spec":[]}"#, "/spec"),
            (r#"{"spec":{"containers":[[]]}}"#, "/spec/containers/0"),
            (r#"{"spec":{"containers":[{"securityContext":[true]}]}}"#, "/spec/containers/0/securityContext"),
        ] {
            let error = object::<PodView<'_>>(json).unwrap_err();
            assert_eq!(error.pointer, pointer, "{error}");
        }
    }

    #[test]
    fn odd_but_decodable_objects_decode() {
        for json in [
            "{}",
            r#"{"metadata":null,"spec":null}"#,
            r#"{"spec":{"containers":null,"volumes":[null]}}"#,
            r#"{"spec":{"containers":[null,{"securityContext":null,"env":null,"resources":{"limits":null}}]}}"#,
        ] {
            assert!(object::<PodView<'_>>(json).is_ok(), "{json}");
        }
    }
}
