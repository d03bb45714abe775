//! JSON that may be printed to the log of a CI runner. The texts of authors could hold commands of the runner, such as
//! `##vso[` of Azure Pipelines at any place of a line, or characters that change the text of a terminal. They are written as
//! escapes, so a reader of the JSON gets the same texts.

use crate::text::is_unprintable;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter, PrettyFormatter};
use std::io::{self, Write};

/// Writes a value as compact JSON.
///
/// # Errors
/// Those of the writer.
pub fn write_json(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    let mut serializer = Serializer::with_formatter(out, EscapesForLogs(CompactFormatter));
    Ok(value.serialize(&mut serializer)?)
}

/// Writes a value as indented JSON.
///
/// # Errors
/// Those of the writer.
pub fn write_indented_json(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    let mut serializer = Serializer::with_formatter(out, EscapesForLogs(PrettyFormatter::new()));
    Ok(value.serialize(&mut serializer)?)
}

/// A value as compact JSON.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn json_text(value: &impl Serialize) -> io::Result<String> {
    let mut out = Vec::new();
    write_json(&mut out, value)?;
    String::from_utf8(out).map_err(io::Error::other)
}

/// A formatter that writes texts with more escapes.
struct EscapesForLogs<F>(F);

/// Whether a text has nothing to escape, as nearly every text.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte < 0x7f) && !text.contains("##")
}

/// Writes a part of a JSON text. What is escaped stands only inside of strings: every command has `##`, and control
/// characters of ASCII are escaped already.
fn write_fragment<W: Write + ?Sized>(out: &mut W, fragment: &str) -> io::Result<()> {
    if is_plain(fragment) {
        return out.write_all(fragment.as_bytes());
    }
    let mut written = 0;
    let mut before = ' ';
    for (at, c) in fragment.char_indices() {
        if c >= '\u{7f}' && is_unprintable(c) || c == '#' && before == '#' {
            out.write_all(fragment.get(written..at).unwrap_or_default().as_bytes())?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
            written = at + c.len_utf8();
        }
        before = c;
    }
    out.write_all(fragment.get(written..).unwrap_or_default().as_bytes())
}

impl<F: Formatter> Formatter for EscapesForLogs<F> {
    fn write_string_fragment<W: Write + ?Sized>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        write_fragment(out, fragment)
    }
    fn write_raw_fragment<W: Write + ?Sized>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        write_fragment(out, fragment)
    }
    fn write_char_escape<W: Write + ?Sized>(&mut self, out: &mut W, escape: CharEscape) -> io::Result<()> {
        self.0.write_char_escape(out, escape)
    }
    fn begin_array<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_array(out)
    }
    fn end_array<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array(out)
    }
    fn begin_array_value<W: Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(out, first)
    }
    fn end_array_value<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array_value(out)
    }
    fn begin_object<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object(out)
    }
    fn end_object<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object(out)
    }
    fn begin_object_key<W: Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(out, first)
    }
    fn begin_object_value<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object_value(out)
    }
    fn end_object_value<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object_value(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::value::RawValue;
    use serde_json::{Value, json};

    #[test]
    fn texts_have_no_commands_and_no_control_characters() {
        let text = "a ##vso[x] ##[y] ###teamcity[z] \u{9b}1m\u{202e}\u{2028}\u{85}\u{7f}\u{1b}\n\u{e0001}é";
        let value = json!({text: [text, {}, [], 1.5, null]});
        let mut indented = Vec::new();
        write_indented_json(&mut indented, &value).unwrap();
        for (written, plain) in [
            (json_text(&value).unwrap(), value.to_string()),
            (String::from_utf8(indented).unwrap(), serde_json::to_string_pretty(&value).unwrap()),
        ] {
            assert!(!written.contains("##"), "{written}");
            assert!(!written.chars().any(|c| c != '\n' && is_unprintable(c)), "{written}");
            assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), value);
            assert_eq!(written.lines().count(), plain.lines().count());
        }
        let raw = RawValue::from_string("{\"a\":\n \"##[\u{9b}\"}".to_owned()).unwrap();
        assert_eq!(json_text(&raw).unwrap(), "{\"a\":\n \"#\\u0023[\\u009b\"}");
        let plain = json!({"a": ["é", {"b": 1}]});
        assert_eq!(json_text(&plain).unwrap(), plain.to_string());
    }
}
