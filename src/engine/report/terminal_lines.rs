//! Text in a terminal: lines that fit its width, and literals without Markdown.

use crate::text::text_without_runner_commands;
use unicode_width::UnicodeWidthStr;

/// Narrowest column of text that is wrapped. Below, the terminal breaks the lines.
const NARROWEST: usize = 20;

/// Columns that a text takes in a terminal.
#[must_use]
pub fn columns(text: &str) -> usize {
    text.width()
}

/// A paragraph in lines of at most `width` columns. The first line continues one with `used` columns; the others begin
/// with `indent` spaces. A word longer than a line stays whole, so that it can be copied. No line begins with `::`, as commands
/// of a CI runner do. Control characters of the text, also line breaks, are escaped.
#[must_use]
pub fn wrapped(text: &str, used: usize, indent: usize, width: usize) -> String {
    let text = text_without_runner_commands(text);
    if width < indent + NARROWEST || used.saturating_add(columns(&text)) <= width {
        return text;
    }
    let mut lines = String::with_capacity(text.len() + 16);
    let (mut at, mut first) = (used, true);
    for word in text.split(' ') {
        let length = columns(word);
        // Runners ignore blanks before a command.
        let visible = word.trim_start();
        let may_begin_a_line = !visible.is_empty() && !visible.starts_with("::");
        if first {
            first = false;
        } else if at + 1 + length > width && may_begin_a_line {
            lines.push('\n');
            lines.extend(std::iter::repeat_n(' ', indent));
            at = indent;
        } else {
            lines.push(' ');
            at += 1;
        }
        lines.push_str(word);
        at += length;
    }
    lines
}

/// The text of a document without its backticks. A literal that is not one plain word gets quotes instead, so that its
/// ends stay visible.
#[must_use]
pub fn without_backticks(text: &str) -> String {
    let mut parts = text.split('`');
    let mut shown = parts.next().unwrap_or_default().to_owned();
    while let Some(literal) = parts.next() {
        let plain = literal.chars().any(char::is_alphanumeric) && !literal.contains(char::is_whitespace);
        let quote = if plain || literal.contains('"') { "" } else { "\"" };
        shown.push_str(quote);
        shown.push_str(literal);
        shown.push_str(quote);
        shown.push_str(parts.next().unwrap_or_default());
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_of_documents_have_no_backticks_in_a_terminal() {
        for (text, shown) in [
            ("set `sizeLimit: 64Gi` in `spec`", "set \"sizeLimit: 64Gi\" in spec"),
            ("`^` (all but) and `=`", "\"^\" (all but) and \"=\""),
            ("`a: \"false\"`", "a: \"false\""),
            ("none", "none"),
        ] {
            assert_eq!(without_backticks(text), shown);
        }
    }

    #[test]
    fn a_paragraph_has_no_control_characters() {
        assert_eq!(wrapped("a\n::error::b\u{1b}[2J", 0, 0, 80), "a\\n::error::b\\u{1b}[2J");
    }

    #[test]
    fn lines_fit_and_words_stay_whole() {
        assert_eq!(wrapped("one two three four five", 10, 2, 24), "one two three\n  four five");
        assert_eq!(wrapped("one two", 10, 2, 17), "one two");
        assert_eq!(wrapped("one two three ::error::x four", 10, 2, 24), "one two three ::error::x\n  four");
        for blank in ["", " ", "\u{a0}", "\u{3000}"] {
            let text = format!("one two three {blank} {blank}::error::x four");
            assert_eq!(wrapped(&text, 10, 2, 24), format!("one two three {blank} {blank}::error::x\n  four"));
        }
        let long = "a".repeat(40);
        assert_eq!(wrapped(&format!("to {long} go"), 0, 2, 24), format!("to\n  {long}\n  go"));
        // Two columns for each of these characters.
        assert_eq!(wrapped("名前名前名前 名前名前名前", 0, 0, 24), "名前名前名前\n名前名前名前");
        assert_eq!(wrapped("a terminal that is too narrow", 10, 10, 12), "a terminal that is too narrow");
    }
}
