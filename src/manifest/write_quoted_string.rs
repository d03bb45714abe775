//! Strings of YAML in double quotes.

use super::string_style;
use std::fmt::Write as _;

/// Longest key on one line with its value (bytes): YAML 1.1 allows 1,024 characters.
pub(super) const LONGEST_KEY: usize = 1000;

/// Writes a string in double quotes, with escapes that every YAML reader knows. The second `#` of two has one: they begin commands
/// of CI runners at any place of a line, such as `##vso[`.
pub(super) fn write_quoted(out: &mut String, text: &str) {
    out.push('"');
    let mut before = '"';
    for c in text.chars() {
        match c {
            '#' if before == '#' => out.push_str("\\x23"),
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if string_style::is_printable(c) => out.push(c),
            c if u32::from(c) <= 0xff => drop(write!(out, "\\x{:02x}", u32::from(c))),
            c if u32::from(c) <= 0xffff => drop(write!(out, "\\u{:04x}", u32::from(c))),
            c => drop(write!(out, "\\U{:08x}", u32::from(c))),
        }
        before = c;
    }
    out.push('"');
}
