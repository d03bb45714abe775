//! Strings of YAML in double quotes.

use super::string_style;
use std::fmt::Write as _;

/// Longest key on one line with its value (bytes): YAML 1.1 allows 1,024 characters.
pub(super) const LONGEST_KEY: usize = 1000;

/// Writes a string in double quotes, with escapes that every YAML reader knows.
pub(super) fn write_quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if string_style::is_printable(c) => out.push(c),
            c if u32::from(c) <= 0xff => drop(write!(out, "\\x{:02x}", u32::from(c))),
            c => drop(write!(out, "\\u{:04x}", u32::from(c))),
        }
    }
    out.push('"');
}
