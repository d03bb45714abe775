//! Line breaks behind a backslash: in double quotes of YAML they join the text before them with that of the next line.

/// What YAML 1.1 takes for the end of a line (yaml.v2 yamlprivateh.go, `is_break`): line feed, carriage return, U+0085, U+2028
/// and U+2029.
const LINE_BREAKS: [&str; 5] = ["\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"];

/// Whether a text, which follows a backslash, begins with a line break.
pub(super) fn begins_with_line_break(text: &[u8]) -> bool {
    LINE_BREAKS.iter().any(|end| text.starts_with(end.as_bytes()))
}
