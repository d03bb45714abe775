//! JSON that may be printed to the log of a CI runner. The texts of authors could hold commands of the runner, such as
//! `##vso[` of Azure Pipelines at any place of a line, or characters that change the text of a terminal. They are written as
//! escapes, so a reader of the JSON gets the same texts.

use crate::text::is_unprintable;
use serde::Serialize;
use std::io::{self, Write};

/// Writes a value as compact JSON, piece by piece: documents can be large.
///
/// # Errors
/// Those of the writer, and a value that JSON cannot hold.
pub fn write_json(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    Ok(serde_json::to_writer(WithEscapes::new(out), value)?)
}

/// Writes a value as indented JSON.
///
/// # Errors
/// As [`write_json`].
pub fn write_indented_json(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    Ok(serde_json::to_writer_pretty(WithEscapes::new(out), value)?)
}

/// A value as compact JSON.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn json_text(value: &impl Serialize) -> io::Result<String> {
    let mut json = Vec::new();
    write_json(&mut json, value)?;
    String::from_utf8(json).map_err(io::Error::other)
}

/// A writer of JSON that adds escapes. What is escaped can stand only inside of strings: every command has `##`, and control
/// characters of ASCII are escaped already.
struct WithEscapes<'a> {
    out: &'a mut dyn Write,
    /// The last character that was written.
    before: char,
}

impl<'a> WithEscapes<'a> {
    fn new(out: &'a mut dyn Write) -> Self {
        Self { out, before: ' ' }
    }
}

impl Write for WithEscapes<'_> {
    /// Takes whole characters only, as `serde_json` writes them.
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let text =
            std::str::from_utf8(piece).map_err(|fault| io::Error::new(io::ErrorKind::InvalidData, fault))?;
        let mut written = 0;
        for (at, c) in text.char_indices() {
            if c >= '\u{7f}' && is_unprintable(c) || c == '#' && self.before == '#' {
                self.out.write_all(text.get(written..at).unwrap_or_default().as_bytes())?;
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(self.out, "\\u{unit:04x}")?;
                }
                written = at + c.len_utf8();
            }
            self.before = c;
        }
        self.out.write_all(text.get(written..).unwrap_or_default().as_bytes())?;
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
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
