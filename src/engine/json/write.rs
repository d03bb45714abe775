//! Pieces of JSON text, written without a tree of values.

use crate::text::push_json;

/// A text.
pub(crate) fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_json(&mut out, text);
    out
}

/// A list of values that are JSON already.
pub(crate) fn array(items: &[String]) -> String {
    let mut out = String::with_capacity(items.iter().map(|i| i.len() + 1).sum::<usize>() + 1);
    for (nth, item) in items.iter().enumerate() {
        out.push(if nth == 0 { '[' } else { ',' });
        out.push_str(item);
    }
    out.push_str(if items.is_empty() { "[]" } else { "]" });
    out
}

/// An object whose values are JSON already.
pub(crate) fn object(pairs: &[(&str, String)]) -> String {
    let mut out = String::with_capacity(pairs.iter().map(|(k, v)| k.len() + v.len() + 4).sum::<usize>() + 1);
    for (nth, (key, value)) in pairs.iter().enumerate() {
        out.push(if nth == 0 { '{' } else { ',' });
        push_json(&mut out, key);
        out.push(':');
        out.push_str(value);
    }
    out.push_str(if pairs.is_empty() { "{}" } else { "}" });
    out
}
