//! JSON that may be printed to the log of a CI runner. The texts of authors could hold commands of the runner, such as
//! `##vso[` of Azure Pipelines at any place of a line, or characters that change the text of a terminal. They are written as
//! escapes, so a reader of the JSON gets the same texts.

use crate::text::is_unprintable;
use serde::Serialize;
use std::borrow::Cow;
use std::io::{self, Write};

/// Writes a value as compact JSON.
///
/// # Errors
/// Those of the writer, and a value that JSON cannot hold.
pub fn write_json(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    out.write_all(json_text(value)?.as_bytes())
}

/// Writes a value as indented JSON.
///
/// # Errors
/// As [`write_json`].
pub fn write_indented_json(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    out.write_all(with_escapes(&serde_json::to_string_pretty(value)?).as_bytes())
}

/// A value as compact JSON.
///
/// # Errors
/// A value that JSON cannot hold.
pub fn json_text(value: &impl Serialize) -> io::Result<String> {
    let json = serde_json::to_string(value)?;
    Ok(match with_escapes(&json) {
        Cow::Borrowed(_) => json,
        Cow::Owned(escaped) => escaped,
    })
}

/// A JSON text with more escapes. What is escaped can stand only inside of strings: every command has `##`, and control
/// characters of ASCII are escaped already.
fn with_escapes(json: &str) -> Cow<'_, str> {
    // As nearly every text.
    if json.bytes().all(|byte| byte < 0x7f) && !json.contains("##") {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    let mut before = ' ';
    for c in json.chars() {
        if c >= '\u{7f}' && is_unprintable(c) || c == '#' && before == '#' {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
        before = c;
    }
    Cow::Owned(out)
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
