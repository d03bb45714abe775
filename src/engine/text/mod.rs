//! Small texts: suggestions, pointers, words for people.

mod bytes_that_are_not_utf8;
mod did_you_mean;
mod edit_distance;
mod json_document_limit;
mod unprintable_characters;

pub use bytes_that_are_not_utf8::replace_bytes_that_are_not_utf8;
pub use did_you_mean::{name_meant_by_misspelt, nearest_if_probably_meant};
pub use json_document_limit::parse_document_within_limit;
pub(crate) use json_document_limit::{
    MAX_DEVICE_PLUGIN_VALUES, MAX_DEVICE_PLUGIN_VALUES_OF_OBJECT, estimated_values, refuse_long_cni_document,
    refuse_long_document,
};
pub use unprintable_characters::without_commands_inside_lines;
pub use unprintable_characters::{
    cut_to_bytes, cut_without_runner_commands, escaped_and_cut, is_unprintable, text_without_runner_commands,
};
pub(crate) use unprintable_characters::{is_ascii_and_short, push_escaped_and_cut};

use std::borrow::Borrow;
use std::fmt;

/// A reference token of a JSON pointer (RFC 6901): `~` and `/` escaped.
#[must_use]
pub fn json_pointer_token(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    for c in text.chars() {
        match c {
            '~' => out.push_str("~0"),
            '/' => out.push_str("~1"),
            c => out.push(c),
        }
    }
    out
}

/// Writes a token of a JSON pointer between the quotes of a text in JSON.
pub(crate) fn push_json_pointer_token(out: &mut String, text: &str) {
    for (nth, part) in text.split('/').enumerate() {
        if nth > 0 {
            out.push_str("~1");
        }
        match part.contains('~') {
            true => push_json_escaped(out, &json_pointer_token(part)),
            false => push_json_escaped(out, part),
        }
    }
}

/// Writes a number. The places of real containers have one digit.
pub(crate) fn push_number(out: &mut String, number: usize) {
    match u8::try_from(number) {
        Ok(digit @ 0..10) => out.push(char::from(b'0' + digit)),
        _ => out.push_str(&number.to_string()),
    }
}

/// Writes a text as JSON.
pub(crate) fn push_json_text(out: &mut String, text: &str) {
    out.push('"');
    push_json_escaped(out, text);
    out.push('"');
}

/// Writes what stands between the quotes of a text in JSON.
pub(crate) fn push_json_escaped(out: &mut String, text: &str) {
    // Nearly every text. It looks at every byte, so that the compiler uses vectors.
    if !text.bytes().fold(false, |found, b| found | (b < b' ') | (b == b'"') | (b == b'\\')) {
        out.push_str(text);
        return;
    }
    let quoted = serde_json::to_string(text).unwrap_or_default();
    out.push_str(quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default());
}

/// A text of parts that is probably no longer than this (bytes). `format!` guesses a length, and copies a longer text.
pub(crate) fn format_with_capacity(length: usize, parts: fmt::Arguments<'_>) -> String {
    let mut text = String::with_capacity(length);
    // Writing into a String does not fail.
    let _ = fmt::Write::write_fmt(&mut text, parts);
    text
}

/// What stands before and behind the first of an ASCII character. Names are short: `str::split_once` prepares a search with
/// vectors, which takes longer than a look at each byte.
pub(crate) fn split_at_first(text: &str, separator: u8) -> Option<(&str, &str)> {
    let at = text.bytes().position(|byte| byte == separator)?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// Names in a sentence: `a`, `a and b`, `a, b and c`.
#[must_use]
pub fn names_in_sentence<S: Borrow<str>>(names: &[S]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => {
            format!("{} and {}", first.join(", "), <S as Borrow<str>>::borrow(last))
        }
        one => one.join(", "),
    }
}

/// A count with its noun.
#[must_use]
pub fn count_with_noun(n: usize, noun: &str) -> String {
    Count(n, noun).to_string()
}

/// The same, to be written as a part of a text.
pub(crate) struct Count<'a>(pub(crate) usize, pub(crate) &'a str);

impl fmt::Display for Count<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(n, noun) = self;
        write!(f, "{n} {noun}{}", if *n == 1 { "" } else { "s" })
    }
}

/// Most names in a message; the rest are counted.
const MAX_NAMES_SHOWN: usize = 8;

/// Names in a message, one after the other: the first eight, and the number of the rest.
#[must_use]
pub fn names_in_message<T: AsRef<str>>(names: &[T]) -> String {
    let shown: Vec<String> =
        names.iter().take(MAX_NAMES_SHOWN).map(|name| escaped_and_cut(name.as_ref(), 253)).collect();
    match names.len().saturating_sub(MAX_NAMES_SHOWN) {
        0 => shown.join(", "),
        rest => format!("{} and {rest} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_names() {
        assert_eq!(names_in_sentence::<&str>(&[]), "");
        assert_eq!(names_in_sentence(&["a"]), "a");
        assert_eq!(names_in_sentence(&["a", "b"]), "a and b");
        assert_eq!(names_in_sentence(&["a", "b", "c"]), "a, b and c");
    }

    #[test]
    fn escapes_pointer_tokens() {
        assert_eq!(json_pointer_token("k8s.v1.cni.cncf.io/networks"), "k8s.v1.cni.cncf.io~1networks");
        assert_eq!(json_pointer_token("a~b"), "a~0b");
        for text in ["", "/", "a/b", "~/~1/é", "k8s.v1.cni.cncf.io/networks", "//"] {
            let mut pushed = String::new();
            push_json_pointer_token(&mut pushed, text);
            assert_eq!(pushed, json_pointer_token(text), "{text:?}");
        }
    }
}
