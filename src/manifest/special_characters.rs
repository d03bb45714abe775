//! Characters that decide how kubectl splits and reads a YAML document.

/// A text may begin with this character, which shows the encoding of the text. Behind the start of a document, kubectl may read
/// the lines that follow it in another way.
pub const BYTE_ORDER_MARK: char = '\u{feff}';

/// What YAML 1.1 takes for the end of a line (yaml.v2 yamlprivateh.go, `is_break`).
pub(super) const LINE_BREAKS: [char; 5] = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];

/// Whether a text begins with a line break. In double quotes, a backslash before a line break joins two lines.
#[must_use]
pub fn begins_with_line_break(text: &[u8]) -> bool {
    LINE_BREAKS.iter().any(|end| text.starts_with(end.encode_utf8(&mut [0; 4]).as_bytes()))
}
