//! JSON to flow-style YAML, on one line.

use super::write_quoted_string::{LONGEST_KEY, write_quoted};
use serde_json::{Value, map};
use std::fmt::Write as _;
use std::slice;

/// A collection that is being written.
enum Collection<'v> {
    Mapping(map::Iter<'v>),
    Sequence(slice::Iter<'v, Value>),
}

/// Writes a value as flow-style YAML, with all strings and keys in double quotes.
pub(super) fn write_flow(out: &mut String, json: &Value) {
    // An explicit stack: a value may be nested more deeply than a thread's stack allows.
    let mut stack = Vec::new();
    write_start_or_scalar(out, json, &mut stack);
    while let Some((collection, is_first)) = stack.last_mut() {
        let entry = match collection {
            Collection::Mapping(entries) => entries.next().map(|(key, value)| (Some(key), value)),
            Collection::Sequence(items) => items.next().map(|item| (None, item)),
        };
        let Some((key, value)) = entry else {
            out.push(if matches!(collection, Collection::Mapping(_)) { '}' } else { ']' });
            stack.pop();
            continue;
        };
        if !std::mem::take(is_first) {
            out.push_str(", ");
        }
        if let Some(key) = key {
            let start = out.len();
            write_quoted(out, key);
            if out.len() - start > LONGEST_KEY {
                out.insert_str(start, "? ");
            }
            out.push_str(": ");
        }
        write_start_or_scalar(out, value, &mut stack);
    }
}

/// Writes a scalar, or the bracket of a collection, whose entries follow.
fn write_start_or_scalar<'v>(out: &mut String, json: &'v Value, stack: &mut Vec<(Collection<'v>, bool)>) {
    match json {
        Value::Object(map) => {
            out.push('{');
            stack.push((Collection::Mapping(map.iter()), true));
        }
        Value::Array(items) => {
            out.push('[');
            stack.push((Collection::Sequence(items.iter()), true));
        }
        Value::String(text) => write_quoted(out, text),
        // Writing to a String does not fail.
        Value::Null | Value::Bool(_) | Value::Number(_) => drop(write!(out, "{json}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn one_line() {
        let mut out = String::new();
        write_flow(&mut out, &json!({"a": [1, "x\ny", null, [], {}], "b: c": {"d": true}}));
        assert_eq!(out, r#"{"a": [1, "x\ny", null, [], {}], "b: c": {"d": true}}"#);
        out.clear();
        write_flow(&mut out, &json!({"k".repeat(2000): 1}));
        assert_eq!(out, format!("{{? \"{}\": 1}}", "k".repeat(2000)));
    }
}
