//! JSON inside of text fields: `config`, `ipam`, `metaPlugins`, `capabilities`, configurations of device plugins.
//!
//! The API server accepts any text there; a fault shows only when a plugin reads it. So a fault is reported with its place
//! in the text, and names the usual mistake instead of the parser's words.

use super::finding::LineAndColumn;
use crate::json::as_go_reads::{self, CNI_FIELDS};
use crate::text::{escaped_and_cut, refuse_long_cni_document};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::fmt;

/// Why a text cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddedFault {
    /// Where in the text.
    pub spot: LineAndColumn,
    /// What is wrong there.
    pub what: String,
    /// The text around the place; empty where there is none.
    pub near: String,
}

impl fmt::Display for EmbeddedFault {
    /// ``line 3, column 7, near `…`: a comma before the closing bracket``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.spot.line, self.spot.column)?;
        if !self.near.is_empty() {
            write!(f, ", near `{}`", self.near)?;
        }
        write!(f, ": {}", self.what)
    }
}

/// One object of several.
#[derive(Debug, Clone, PartialEq)]
pub struct EmbeddedObject {
    /// Byte of the text at which it starts.
    pub at: usize,
    /// The object.
    pub object: Map<String, Value>,
}

/// Reads a text as one JSON object, whose keys stand for some fields in any case (see `facts::go_json`).
///
/// # Errors
/// [`EmbeddedFault`] where it is not one.
pub fn read_object(text: &str, fields: &[&'static str]) -> Result<Map<String, Value>, EmbeddedFault> {
    match as_go_reads::read_and_respell_keys(text, fields)
        .map_err(|error| fault_of_parser_error(text, 0, &error))?
    {
        (Value::Object(object), _) => Ok(object),
        (other, _) => Err(fault_at(text, start(text), format!("found {}, expected an object", kind(&other)))),
    }
}

/// Reads a text as one JSON object of CNI.
///
/// # Errors
/// [`EmbeddedFault`] where it is not one.
pub fn read_cni_object(text: &str) -> Result<Map<String, Value>, EmbeddedFault> {
    refuse_long_cni_document(text).map_err(|error| fault_of_parser_error(text, 0, &error))?;
    read_object(text, CNI_FIELDS)
}

/// Reads a text as JSON objects of CNI with commas between them, which is how operators paste it into a list. Each comes with
/// the place where it starts.
///
/// # Errors
/// [`EmbeddedFault`] where it is not one. Brackets around the objects are one: they make a list in the list.
pub fn read_objects_with_commas(text: &str) -> Result<Vec<EmbeddedObject>, EmbeddedFault> {
    refuse_long_cni_document(text).map_err(|error| fault_of_parser_error(text, 0, &error))?;
    let mut objects = Vec::new();
    let mut from = start(text);
    loop {
        let rest = text.get(from..).unwrap_or_default();
        // Where a value ends shows before it is read, so that it is read once.
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        match values.next() {
            Some(Ok(own)) => {
                match as_go_reads::read_cni_and_respell_keys(own.get())
                    .map_err(|error| fault_of_parser_error(text, from, &error))?
                {
                    Value::Object(object) => objects.push(EmbeddedObject { at: from, object }),
                    Value::Array(_) => {
                        let what = "the operator adds the brackets itself";
                        return Err(fault_at(text, from, what.to_owned()));
                    }
                    other => {
                        return Err(fault_at(
                            text,
                            from,
                            format!("found {}, expected an object", kind(&other)),
                        ));
                    }
                }
            }
            Some(Err(error)) => return Err(fault_of_parser_error(text, from, &error)),
            None if from == start(text) => return Err(fault_at(text, 0, "the text is empty".to_owned())),
            None => {
                let comma = text.trim_end().len().saturating_sub(1);
                return Err(fault_at(text, comma, "a comma after the last object".to_owned()));
            }
        }
        let end = from + values.byte_offset();
        let after = end + start(text.get(end..).unwrap_or_default());
        match text.get(after..).and_then(|t| t.chars().next()) {
            None => return Ok(objects),
            Some(',') => from = after + 1 + start(text.get(after + 1..).unwrap_or_default()),
            Some('{') => {
                return Err(fault_at(text, after, "a comma is missing before this object".to_owned()));
            }
            Some(_) => return Err(fault_at(text, after, "more text after the last object".to_owned())),
        }
    }
}

/// Line and column of a byte of a text. It reads all text before it: call it for what is reported, not for each value.
#[must_use]
pub fn line_and_column(text: &str, offset: usize) -> LineAndColumn {
    let before = text.get(..offset).unwrap_or(text);
    // Not by characters: a text may have a hundred thousand lines, and fifty findings behind them.
    let line = memchr::memchr_iter(b'\n', before.as_bytes()).count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    LineAndColumn { line: count(line), column: count(column) }
}

/// The place of a string in a text that was read, quotes included; the start of the text where it is not found as written.
#[must_use]
pub fn line_and_column_of_string(text: &str, string: &str) -> LineAndColumn {
    line_and_column(text, text.find(&format!("\"{string}\"")).unwrap_or(0))
}

/// Byte of the first character that is not blank; the end where there is none.
fn start(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t', '\r', '\n']).len()
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Characters that are shown on each side of a place.
const NEAR: usize = 14;

fn fault_at(text: &str, offset: usize, what: String) -> EmbeddedFault {
    let (before, after) = text.split_at_checked(offset).unwrap_or((text, ""));
    let from = before.rsplit('\n').next().unwrap_or_default();
    let head: Vec<char> = from.chars().rev().take(NEAR).collect();
    let tail = after.split('\n').next().unwrap_or_default().chars().take(NEAR);
    let near: String = head.into_iter().rev().chain(tail).collect();
    EmbeddedFault { spot: line_and_column(text, offset), what, near: escaped_and_cut(near.trim(), 2 * NEAR) }
}

/// A parser's error in `text`, of which it read what is behind `from`.
fn fault_of_parser_error(text: &str, from: usize, error: &serde_json::Error) -> EmbeddedFault {
    let rest = text.get(from..).unwrap_or_default();
    let lines = rest.split_inclusive('\n').take(error.line().saturating_sub(1));
    let mut offset = from + lines.map(str::len).sum::<usize>() + error.column().saturating_sub(1);
    // The parser counts bytes, and may point into a character.
    offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let (before, after) = text.split_at_checked(offset).unwrap_or((text, ""));
    let before = before.trim_end();
    let next = after.chars().next();
    let what = if rest.trim().is_empty() {
        return fault_at(text, from, "the text is empty".to_owned());
    } else if !rest.trim_start().starts_with(['{', '[', '"']) && rest.contains(": ") {
        return fault_at(text, from + start(rest), "found YAML, expected JSON".to_owned());
    } else if error.is_eof() {
        "the text ends before the last bracket or quote is closed".to_owned()
    } else if matches!(next, Some('}' | ']')) && before.ends_with(',') {
        return fault_at(text, before.len() - 1, "a comma before the closing bracket".to_owned());
    } else {
        mistake_in_words(before, after, error)
    };
    fault_at(text, offset, what)
}

fn mistake_in_words(before: &str, after: &str, error: &serde_json::Error) -> String {
    let next = after.chars().next().unwrap_or(' ');
    let at_key = before.ends_with(['{', ',']);
    let words = if after.starts_with("//") || after.starts_with("/*") || next == '#' {
        "JSON allows no comments"
    } else if next == '\'' {
        "single quotes instead of double quotes"
    } else if matches!(next, '“' | '”' | '„' | '‘' | '’') {
        "typographic quotes instead of plain double quotes"
    } else if ["True", "False", "None"].iter().any(|word| after.starts_with(word)) {
        "a Python word instead of true, false or null"
    } else if at_key && (next.is_alphabetic() || next == '_') {
        "a name without double quotes"
    } else if next == '"' && before.ends_with(|c: char| matches!(c, '"' | '}' | ']') || c.is_alphanumeric()) {
        "a comma is missing before this place"
    } else {
        // The place is before it.
        let text = error.to_string();
        return text.split(" at line ").next().unwrap_or_default().to_owned();
    };
    words.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (u32, u32, String) {
        let fault = read_object(text, &[]).unwrap_err();
        (fault.spot.line, fault.spot.column, fault.what)
    }

    #[test]
    fn mistakes_are_named_at_their_place() {
        for (text, line, column, what) in [
            ("{\"a\": 1,}", 1, 8, "a comma before the closing bracket"),
            ("{\n  \"a\": [\n    1,\n  ]\n}", 3, 6, "a comma before the closing bracket"),
            ("{'a': 1}", 1, 2, "single quotes"),
            ("{\"a\": 'x'}", 1, 7, "single quotes"),
            ("{\n  // why\n  \"a\": 1}", 2, 3, "JSON allows no comments"),
            ("{\"a\": 1 # why\n}", 1, 9, "JSON allows no comments"),
            ("{\"a\": 1, /* b */ \"c\": 2}", 1, 10, "JSON allows no comments"),
            ("type: host-local\nsubnet: 10.0.0.0/24\n", 1, 1, "found YAML"),
            ("- type: a\n", 1, 1, "found YAML"),
            ("{type: \"host-local\"}", 1, 2, "a name without double quotes"),
            ("{“a”: 1}", 1, 2, "typographic"),
            ("{\"é\": “a”}", 1, 7, "typographic"),
            ("{\"a\": True}", 1, 7, "a Python word"),
            ("{\"a\": \"b\"\n \"c\": 1}", 2, 2, "a comma is missing before this place"),
            ("{\"a\": 1", 1, 7, "the text ends before"),
            ("  \n", 1, 1, "the text is empty"),
            ("[1]", 1, 1, "found a list, expected an object"),
            (" \"a\"", 1, 2, "found a string, expected an object"),
            ("{} x", 1, 4, "trailing characters"),
        ] {
            let (l, c, w) = of(text);
            assert!((l, c) == (line, column) && w.starts_with(what), "{text:?}: {l}:{c} {w}");
        }
        assert!(read_object("{\"a\": {\"b\": [1, null]}}", &[]).is_ok());
    }

    #[test]
    fn what_stands_around_is_shown() {
        let fault = read_object("{\"type\": \"whereabouts\", \"range\": \"10.0.0.0/24\",}", &[]).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "line 1, column 47, near `\"10.0.0.0/24\",}`: a comma before the closing bracket"
        );
    }

    #[test]
    fn sequences_have_commas_between_and_nothing_around() {
        let text = "{\"type\": \"tuning\"},\n {\"type\": \"rdma\"}\n";
        let entries = read_objects_with_commas(text).unwrap();
        assert_eq!(entries.len(), 2);
        assert_eq!(line_and_column(text, entries[1].at), LineAndColumn { line: 2, column: 2 });
        let of = |text: &str| {
            let fault = read_objects_with_commas(text).unwrap_err();
            (fault.spot.line, fault.spot.column, fault.what)
        };
        for (text, line, column, what) in [
            ("[{\"type\": \"rdma\"}]", 1, 1, "the operator adds the brackets"),
            ("{\"type\": \"rdma\"},", 1, 17, "a comma after the last object"),
            ("{\"type\": \"a\"}\n{\"type\": \"b\"}", 2, 1, "a comma is missing before"),
            ("{\"type\": \"a\"}, {\"type\": \"b\",}", 1, 28, "a comma before the closing"),
            ("{\"type\": \"a\"},\n\n {'type': \"b\"}", 3, 3, "single quotes"),
            ("\"rdma\"", 1, 1, "found a string, expected an object"),
            ("rdma", 1, 1, "expected value"),
            ("{\"type\": \"a\"}; x", 1, 14, "more text"),
            (" ", 1, 1, "the text is empty"),
            (&"{},".repeat(100_000), 1, 1, "300000 bytes; at most"),
        ] {
            let (l, c, w) = of(text);
            assert!((l, c) == (line, column) && w.starts_with(what), "{text:?}: {l}:{c} {w}");
        }
    }
}
