//! Text from outside, for lines that people read: escaped and cut.

/// Format characters, and the separators of lines and paragraphs: Unicode's categories Cf, Zl and Zp
/// (unicode.org/Public/17.0.0/ucd/extracted/DerivedGeneralCategory.txt). They are invisible, or change the order or the
/// lines of the text around them.
const INVISIBLE: [(char, char); 21] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{600}', '\u{605}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{6dd}', '\u{6dd}'),
    ('\u{70f}', '\u{70f}'),
    ('\u{890}', '\u{891}'),
    ('\u{8e2}', '\u{8e2}'),
    ('\u{180e}', '\u{180e}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{2028}', '\u{202e}'),
    ('\u{2060}', '\u{2064}'),
    ('\u{2066}', '\u{206f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{fff9}', '\u{fffb}'),
    ('\u{110bd}', '\u{110bd}'),
    ('\u{110cd}', '\u{110cd}'),
    ('\u{13430}', '\u{1343f}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0001}', '\u{e0001}'),
    ('\u{e0020}', '\u{e007f}'),
];

/// Whether a character must be escaped where a person reads it.
#[must_use]
pub fn is_unprintable(c: char) -> bool {
    c.is_control() || !c.is_ascii() && INVISIBLE.iter().any(|(first, last)| (*first..=*last).contains(&c))
}

/// The start of a text, at most this many bytes long.
#[must_use]
pub fn cut_to_bytes(text: &str, max: usize) -> &str {
    let end = text.len().min(max);
    // A character takes up to four bytes.
    (end.saturating_sub(3)..=end).rev().find_map(|end| text.get(..end)).unwrap_or_default()
}

/// Whether a text is printed as it is, as nearly every name is: nothing to escape, and at most `max` bytes.
pub(crate) fn is_ascii_and_short(text: &str, max: usize) -> bool {
    text.len() <= max && text.bytes().fold(true, |plain, b| plain & matches!(b, b' '..=b'~'))
}

/// Text from outside, for a line that a person reads: control and format characters escaped, cut to `max` characters.
#[must_use]
pub fn escaped_and_cut(text: &str, max: usize) -> String {
    if is_ascii_and_short(text, max) {
        return text.to_owned();
    }
    let mut out = String::new();
    push_escaped_and_cut(&mut out, text, max);
    out
}

/// Writes a text as [`escaped_and_cut`] gives it.
pub(crate) fn push_escaped_and_cut(out: &mut String, text: &str, max: usize) {
    if is_ascii_and_short(text, max) {
        out.push_str(text);
        return;
    }
    for (i, c) in text.chars().enumerate() {
        if i == max {
            out.push('…');
            break;
        }
        if is_unprintable(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
}

/// Text of a log in which the runner finds no command. Commands of GitHub begin a line; those of its old form (`##[`), and
/// those of Azure Pipelines (`##vso[`) and TeamCity (`##teamcity[`), stand at any place of one. The runner reads stderr as well. Every format that people read uses it for names, paths and values:
/// control characters, also line breaks, and characters that change the direction of text are escaped.
#[must_use]
pub fn text_without_runner_commands(text: &str) -> String {
    cut_without_runner_commands(text, usize::MAX)
}

/// The same, cut to `max` characters.
#[must_use]
pub fn cut_without_runner_commands(text: &str, max: usize) -> String {
    let text = without_commands_inside_lines(&escaped_and_cut(text, max), " #");
    // The text may be the first one of its line. Runners ignore the spaces before a command.
    match text.trim_start().strip_prefix("::") {
        Some(command) => format!(": :{command}"),
        None => text,
    }
}

/// Breaks commands that stand at any place of a line, with another text for their second `#`.
#[must_use]
pub fn without_commands_inside_lines(text: &str, second: &str) -> String {
    let mut out = String::with_capacity(text.len() + 1);
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("##") {
        out.push_str(before);
        out.push('#');
        let begins =
            |word: &str| behind.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
        if ["[", "vso[", "teamcity["].into_iter().any(begins) {
            out.push_str(second);
            rest = behind;
        } else {
            // The second `#` may begin a command with the next one.
            rest = rest.get(before.len() + 1..).unwrap_or_default();
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_control_characters() {
        assert_eq!(escaped_and_cut("a\nb\u{1b}c", 10), "a\\nb\\u{1b}c");
        assert_eq!(escaped_and_cut("abcdef", 3), "abc…");
    }

    #[test]
    fn breaks_commands_of_runners() {
        for (text, expected) in [
            ("a ##[error]b", "a # #[error]b"),
            ("###[x]", "## #[x]"),
            ("##vso[task.complete]", "# #vso[task.complete]"),
            ("####VSO[a]##[", "### #VSO[a]# #["),
            ("a ##teamcity[x]", "a # #teamcity[x]"),
            ("## title ##", "## title ##"),
            ("a\n::error::b", "a\\n::error::b"),
            ("::error::b", ": :error::b"),
            ("\u{a0} ::error::b", ": :error::b"),
            ("a::b ::c", "a::b ::c"),
        ] {
            assert_eq!(text_without_runner_commands(text), expected);
        }
    }

    /// Each could turn the rest of a line around, hide in a name, or begin a new line in a reader of logs.
    #[test]
    fn escapes_format_characters() {
        let text = "a\u{202e}b\u{2066}\u{2028}\u{2029}\u{200b}\u{feff}\u{e0041}c";
        assert_eq!(
            escaped_and_cut(text, 20),
            "a\\u{202e}b\\u{2066}\\u{2028}\\u{2029}\\u{200b}\\u{feff}\\u{e0041}c"
        );
        assert_eq!(escaped_and_cut("Zürich 東京 é ½", 20), "Zürich 東京 é ½");
        assert!(INVISIBLE.windows(2).all(|pair| pair[0].0 <= pair[0].1 && pair[0].1 < pair[1].0));
    }
}
