//! Comments in the text of commands. A shell and Python both ignore the rest of a line behind `#`.

use memchr::memchr;

/// The lines of a text without their comments, each with its place (bytes). A line is read as if it began outside of
/// quotes, which holds for a script in quotes as well (`bash -c '…'`). Where it does not hold, a comment may be kept: a
/// variable too many that counts as set does less harm than one too few.
pub(crate) fn lines_without_comments(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').map(move |line| {
        let at = start;
        start += line.len();
        (at, line.get(..comment_start(line)).unwrap_or(line))
    })
}

/// Where the comment of a line starts; its end if there is none. `#` starts one at the start of a word only: not in
/// `$#`, `${#N}` or `a#b` (POSIX.1-2024, Shell Command Language, 2.3 Token Recognition, rule 9).
fn comment_start(line: &str) -> usize {
    if memchr(b'#', line.as_bytes()).is_none() {
        return line.len();
    }
    let (mut quote, mut word, mut escaped) = (None, false, false);
    for (at, byte) in line.bytes().enumerate() {
        let literal = std::mem::take(&mut escaped);
        match (quote, byte) {
            _ if literal => {}
            (None, b'#') if !word => return at,
            (None | Some(b'"' | b'`'), b'\\') => escaped = true,
            (None, b'\'' | b'"' | b'`') => quote = Some(byte),
            (Some(open), close) if open == close => quote = None,
            _ => {}
        }
        word = !matches!(byte, b' ' | b'\t' | b'\r' | b';' | b'&' | b'|' | b'(' | b')')
            || quote.is_some()
            || literal;
    }
    line.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_left_out() {
        for (text, expected) in [
            ("# a\nb # c\n d", &["", "b ", " d"][..]),
            ("  #a", &["  "]),
            ("a;#b", &["a;"]),
            ("a #b\r\nc", &["a ", "c"]),
            ("export A='x' # y", &["export A='x' "]),
            ("mpirun \\\n  # -x A=1 \\\n  b", &["mpirun \\\n", "  ", "  b"]),
        ] {
            let parts: Vec<&str> = lines_without_comments(text).map(|(_, part)| part).collect();
            assert_eq!(parts, expected, "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_a_comment_stays() {
        for text in [
            "a#b",
            "$#",
            "${#A}",
            "echo ' # A=1'",
            "echo \"a # b\"",
            "a \\# b",
            "echo `a # b`",
            "sed 's# #x#'",
            "é#",
        ] {
            assert_eq!(lines_without_comments(text).map(|(_, part)| part).collect::<String>(), text);
        }
    }

    #[test]
    fn places_are_those_of_the_text() {
        let text = "a # b\nc\n\n# d\ne";
        for (at, part) in lines_without_comments(text) {
            assert!(text.get(at..).is_some_and(|rest| rest.starts_with(part)));
        }
    }
}
