//! How a string can be spelled in YAML so that every reader takes it for that string.

use super::node_tree::NodeKind;
use super::yaml_scalars;

/// The spelling of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StringStyle {
    Plain,
    Quoted,
    /// A literal block.
    Literal,
}

/// The spelling of a value.
pub(super) fn style_of_value(text: &str) -> StringStyle {
    if plain(text) {
        StringStyle::Plain
    } else if literal(text) {
        StringStyle::Literal
    } else {
        StringStyle::Quoted
    }
}

/// The spelling of a key: never a block.
pub(super) fn style_of_key(text: &str) -> StringStyle {
    if plain(text) { StringStyle::Plain } else { StringStyle::Quoted }
}

/// Whether a text without quotes stays this string, in YAML 1.1 and in 1.2, and cannot be taken for syntax.
fn plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
    let starts =
        first.is_ascii_alphanumeric() || matches!(first, b'/' | b'_' | b'.' | b'-' | b'+' | b'$' | b'(');
    // A blank at the end is dropped, a colon there makes a key.
    if !starts || matches!(last, b' ' | b':') || text.starts_with("---") || text.starts_with("...") {
        return false;
    }
    // `- ` is a list item, and a lone dash is one too.
    if *first == b'-' && matches!(bytes.get(1), None | Some(b' ')) {
        return false;
    }
    let mut before = 0;
    for &byte in bytes {
        let fine = match byte {
            b' ' | b'#' => !matches!((before, byte), (b' ', b'#')),
            _ => byte.is_ascii_graphic() && !matches!(byte, b'{' | b'}' | b'[' | b']' | b'`' | b'"' | b'\\'),
        };
        if !fine || (before == b':' && byte == b' ') {
            return false;
        }
        before = byte;
    }
    !ambiguous(text)
}

/// Whether some YAML reader takes the plain text for something else than a string.
fn ambiguous(text: &str) -> bool {
    if !matches!(yaml_scalars::resolve_plain_unless_string(text), None | Some(NodeKind::Str(_))) {
        return true;
    }
    let word = text.to_ascii_lowercase();
    if matches!(word.as_str(), "y" | "n" | "yes" | "no" | "on" | "off" | "true" | "false" | "null") {
        return true;
    }
    let numeric = matches!(text.as_bytes().first(), Some(b'0'..=b'9' | b'+' | b'-' | b'.'));
    if !numeric {
        return false;
    }
    // Numbers, base-60 numbers, dates and times of any YAML version: texts with only the characters of those.
    // `10.0.0.1` and `2Gi` are not among them.
    let digits = word.trim_start_matches(['+', '-']);
    let only = |allowed: &str| digits.bytes().all(|b| b.is_ascii_digit() || allowed.as_bytes().contains(&b));
    let points = digits.matches('.').count();
    points <= 1 && only("+-_e.")
        || digits.contains([':', '-']) && only("+-_:. tz")
        || digits.starts_with('.') && only("infa.")
        || ["0x", "0o", "0b"].iter().any(|prefix| digits.starts_with(prefix))
}

/// Whether a text can be a literal block: it has several lines, and no character that a reader would change or refuse
/// there.
fn literal(text: &str) -> bool {
    let lines = text.trim_end_matches('\n');
    text.contains('\n')
        && !lines.is_empty()
        // Readers disagree about a line of blanks at the end.
        && !lines.rsplit('\n').next().is_some_and(|line| line.trim_matches([' ', '\t']).is_empty())
        && text.chars().all(|c| c == '\n' || c == '\t' || is_printable(c))
        && !text.lines().any(has_command_of_ci_runner)
}

/// Whether a document can be printed to the log of a CI runner as it is: it has no command of the runner, and no character that
/// is invisible or changes the direction of a line.
#[must_use]
pub fn fits_into_log_of_ci_runner(text: &str) -> bool {
    // Joiners are a part of many emojis.
    let fits = |c: char| matches!(c, '\n' | '\r' | '\t' | '\u{200c}' | '\u{200d}') || is_printable(c);
    text.chars().all(fits) && !text.split(['\n', '\r']).any(has_command_of_ci_runner)
}

/// Whether a CI runner takes a line of its log for a command. GitHub's begin a line behind any blanks, and have a second `::`;
/// its older ones, and those of Azure Pipelines and TeamCity, stand anywhere (actions/runner src/Runner.Common/ActionCommand.cs).
fn has_command_of_ci_runner(line: &str) -> bool {
    let begins =
        |rest: &str, word: &str| rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    let anywhere = |rest: &str| ["[", "vso[", "teamcity["].into_iter().any(|word| begins(rest, word));
    line.trim_start().strip_prefix("::").is_some_and(|command| command.contains("::"))
        || line.split("##").skip(1).any(|rest| anywhere(rest.trim_start_matches('#')))
}

/// Characters that do not change in any style; the others need an escape in double quotes. Characters that are invisible, or
/// change the direction of the text around them, get one too.
pub(super) fn is_printable(c: char) -> bool {
    match c {
        '\u{ad}'
        | '\u{61c}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' => false,
        ' '..='~' | '\u{a0}'..='\u{fffd}' => true,
        _ => c >= '\u{10000}',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_strings() {
        for text in [
            "a",
            "nvidia.com/gpu",
            "2Gi",
            "100m",
            "10.0.0.1",
            "10.0.0.1/24",
            "1.2.3",
            "v1",
            "--flag=x",
            "a b",
            "a#b",
            "a:b",
            "http://x/?q=1",
            "/dev/shm",
            "$(VAR)",
            "yesterday",
            "it's",
            "0-7,16",
            "all",
        ] {
            assert_eq!(style_of_value(text), StringStyle::Plain, "{text}");
        }
    }

    #[test]
    fn strings_that_need_quotes() {
        for text in [
            "",
            "on",
            "Yes",
            "n",
            "null",
            "~",
            "0644",
            "0o14",
            "1e3",
            "1_000",
            "0x1F",
            ".5",
            ".inf",
            "12:30:45",
            "2001-01-01",
            "2001-01-01 10:00:00",
            "2001-01-01T10:00:00Z",
            "1e400",
            "=",
            "<<",
            "*a",
            "&a",
            "!a",
            "a: b",
            "a #b",
            "a:",
            " a",
            "a ",
            "-",
            "- a",
            "---",
            "--- a",
            "...",
            "#a",
            "a\tb",
            "é",
            "[a]",
            "{a}",
            "%a",
            "@a",
            "`a",
            "?",
            "|",
            ">",
            "'a'",
            "\"a\"",
            "a\\b",
            "\u{7f}",
            "\u{feff}",
            ",a",
            "123456",
            "-1",
            "+1",
        ] {
            assert_eq!(style_of_value(text), StringStyle::Quoted, "{text}");
        }
    }

    #[test]
    fn blocks() {
        assert_eq!(style_of_value("a\nb\n"), StringStyle::Literal);
        assert_eq!(style_of_value("  a\n\tb"), StringStyle::Literal);
        for text in ["\n", "a\r\nb", "a\n ", "a\n\u{85}b", "a\n\u{0}", "a\n\u{202e}b"] {
            assert_eq!(style_of_value(text), StringStyle::Quoted, "{text:?}");
        }
        for text in ["a\n  ::error::b", "a\nb ###[x]", "a ##VSO[x]\n"] {
            assert_eq!(style_of_value(text), StringStyle::Quoted, "a command of a runner: {text:?}");
        }
        assert_eq!(style_of_value("## a\n# [b] c::d\n"), StringStyle::Literal);
    }

    #[test]
    fn documents_for_logs() {
        assert!(fits_into_log_of_ci_runner(
            "# é\r\na: |\n\t## b c::d\n  ::1 localhost\n# \u{1f468}\u{200d}\u{1f467}"
        ));
        for text in
            ["a: |\n  ::error::b", "a: b\r\u{a0}::error::b", "# ##vso[b]", "a: \u{202e}b", "a: \u{9b}1m"]
        {
            assert!(!fits_into_log_of_ci_runner(text), "{text:?}");
        }
    }
}
