//! Small texts: suggestions, pointers, words for people.

use std::borrow::Borrow;
use std::fmt;

/// Most characters of a name that are compared: the cost is the product of two lengths, and names come from outside.
const COMPARED: usize = 64;

/// The nearest of some names, if one is near enough to be the intended one. Two swapped letters count as one mistake.
pub fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = |name: &str| 2.max(name.len() / 3);
    let near = |name: &'a str| Some((distance(wanted, name, most(name))?, name));
    names.filter_map(near).min().map(|(_, name)| name)
}

/// The mistakes between two names, where they are at most `most`. Names whose lengths differ by more are not compared.
fn distance(wanted: &str, name: &str, most: usize) -> Option<usize> {
    let (wanted, name) = (start(wanted), start(name));
    // Lengths in letters; a letter of UTF-8 has up to four bytes.
    let (a, b) = (wanted.len(), name.len());
    if a.min(b) + most < a.max(b) && wanted.chars().count().abs_diff(name.chars().count()) > most {
        return None;
    }
    Some(strsim::osa_distance(wanted, name)).filter(|mistakes| *mistakes <= most)
}

/// The name that a misspelt one was probably meant to be. It is nearer than [`nearest`] asks, and not another number of a
/// series: `H200` is not a misspelt `H100`. A label key may also lack its domain.
pub fn misspelt<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let pattern = series(wanted);
    let near = |name: &str| {
        let bare = name.split_once('/').is_some_and(|(_, bare)| bare == wanted);
        let most = 1.max(name.len() / 6);
        bare || name.len() > 3 && distance(wanted, name, most).is_some() && series(name) != pattern
    };
    let found = names.filter(|name| *name != wanted && near(name));
    found.min_by_key(|name| (strsim::osa_distance(start(wanted), start(name)), *name))
}

/// A name with one `0` for each number.
fn series(name: &str) -> String {
    let mut pattern = String::with_capacity(name.len());
    for c in name.chars() {
        match c.is_ascii_digit() {
            true if pattern.ends_with('0') => {}
            true => pattern.push('0'),
            false => pattern.push(c),
        }
    }
    pattern
}

/// The first characters of a name.
fn start(name: &str) -> &str {
    name.char_indices().nth(COMPARED).and_then(|(end, _)| name.get(..end)).unwrap_or(name)
}

/// A reference token of a JSON pointer (RFC 6901): `~` and `/` escaped.
#[must_use]
pub fn token(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    for c in text.chars() {
        match c {
            '~' => out.push_str("~0"),
            '/' => out.push_str("~1"),
            c => out.push(c),
        }
    }
    out
}

/// Writes a token of a JSON pointer between the quotes of a text in JSON.
pub(crate) fn push_token(out: &mut String, text: &str) {
    for (nth, part) in text.split('/').enumerate() {
        if nth > 0 {
            out.push_str("~1");
        }
        match part.contains('~') {
            true => push_inner(out, &token(part)),
            false => push_inner(out, part),
        }
    }
}

/// Writes a number. The places of real containers have one digit.
pub(crate) fn push_number(out: &mut String, number: usize) {
    match u8::try_from(number) {
        Ok(digit @ 0..10) => out.push(char::from(b'0' + digit)),
        _ => out.push_str(&number.to_string()),
    }
}

/// Writes a text as JSON.
pub(crate) fn push_json(out: &mut String, text: &str) {
    out.push('"');
    push_inner(out, text);
    out.push('"');
}

/// Writes what stands between the quotes of a text in JSON.
pub(crate) fn push_inner(out: &mut String, text: &str) {
    // Nearly every text. It looks at every byte, so that the compiler uses vectors.
    if !text.bytes().fold(false, |found, b| found | (b < b' ') | (b == b'"') | (b == b'\\')) {
        out.push_str(text);
        return;
    }
    let quoted = serde_json::to_string(text).unwrap_or_default();
    out.push_str(quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default());
}

/// A text of parts that is probably no longer than this (bytes). `format!` guesses a length, and copies a longer text.
pub(crate) fn formatted(length: usize, parts: fmt::Arguments<'_>) -> String {
    let mut text = String::with_capacity(length);
    // Writing into a String does not fail.
    let _ = fmt::Write::write_fmt(&mut text, parts);
    text
}

/// What stands before and behind the first of an ASCII character. Names are short: `str::split_once` prepares a search with
/// vectors, which takes longer than a look at each byte.
pub(crate) fn split_at_first(text: &str, separator: u8) -> Option<(&str, &str)> {
    let at = text.bytes().position(|byte| byte == separator)?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// Names in a sentence: `a`, `a and b`, `a, b and c`.
#[must_use]
pub fn listed<S: Borrow<str>>(names: &[S]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => {
            format!("{} and {}", first.join(", "), <S as Borrow<str>>::borrow(last))
        }
        one => one.join(", "),
    }
}

/// A count with its noun.
#[must_use]
pub fn count(n: usize, noun: &str) -> String {
    Count(n, noun).to_string()
}

/// The same, to be written as a part of a text.
pub(crate) struct Count<'a>(pub(crate) usize, pub(crate) &'a str);

impl fmt::Display for Count<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(n, noun) = self;
        write!(f, "{n} {noun}{}", if *n == 1 { "" } else { "s" })
    }
}

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
pub(crate) fn cut(text: &str, max: usize) -> &str {
    let end = text.len().min(max);
    // A character takes up to four bytes.
    (end.saturating_sub(3)..=end).rev().find_map(|end| text.get(..end)).unwrap_or_default()
}

/// Whether a text is printed as it is, as nearly every name is: nothing to escape, and at most `max` bytes.
pub(crate) fn is_printable(text: &str, max: usize) -> bool {
    text.len() <= max && text.bytes().fold(true, |plain, b| plain & matches!(b, b' '..=b'~'))
}

/// Text from outside, for a line that a person reads: control and format characters escaped, cut to `max` characters.
#[must_use]
pub fn printable(text: &str, max: usize) -> String {
    if is_printable(text, max) {
        return text.to_owned();
    }
    let mut out = String::new();
    push_printable(&mut out, text, max);
    out
}

/// Writes a text as [`printable`] gives it.
pub(crate) fn push_printable(out: &mut String, text: &str, max: usize) {
    if is_printable(text, max) {
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

/// Longest text that becomes a generic document (bytes). In memory it takes up to fifty times its length
/// (`[{"":0},…`), and whoever may write one object of the cluster makes every replica read it.
pub(crate) const MAX_TREE: usize = 256 * 1024;

/// A generic document out of a JSON text.
///
/// # Errors
/// The error of `serde_json` for a text that is not JSON, or an error for one longer than 256 KiB.
pub fn tree(text: &str) -> serde_json::Result<serde_json::Value> {
    check_size(text)?;
    serde_json::from_str(text)
}

/// Refuses a text that would take too much memory as a generic document.
///
/// # Errors
/// For a text that is longer than [`MAX_TREE`].
pub(crate) fn check_size(text: &str) -> serde_json::Result<()> {
    if text.len() > MAX_TREE {
        let message = format!("{} bytes; at most {MAX_TREE} are read", text.len());
        return Err(serde::de::Error::custom(message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_the_intended_name() {
        let names = ["roce-sriov", "roce-macvlan", "ethernet-tcp"];
        assert_eq!(nearest("roce-sirov", names.into_iter()), Some("roce-sriov"));
        assert_eq!(nearest("ethernettcp", names.into_iter()), Some("ethernet-tcp"));
        assert_eq!(nearest("quantum", names.into_iter()), None);
        assert_eq!(nearest("spce", ["sepc", "spec"].into_iter()), Some("spec"));
        assert_eq!(start(&"é".repeat(100)).chars().count(), COMPARED);
    }

    #[test]
    fn suggests_a_spelling_but_no_other_number() {
        let names = ["NVIDIA-H100-80GB-HBM3", "NVIDIA-H200", "roce", "ib", "example.com/fabric", "rack-12"];
        for (wanted, meant) in [
            ("NVIDIA-H100-80GB-HBM", Some("NVIDIA-H100-80GB-HBM3")),
            ("NVIDIA-H300", None),
            ("rack-13", None),
            ("Roce", Some("roce")),
            ("roec", Some("roce")),
            ("id", None),
            ("fabric", Some("example.com/fabric")),
            ("example.com/fabrics", Some("example.com/fabric")),
            ("roce", None),
        ] {
            assert_eq!(misspelt(wanted, names.into_iter()), meant, "{wanted}");
        }
    }

    #[test]
    fn lists_names() {
        assert_eq!(listed::<&str>(&[]), "");
        assert_eq!(listed(&["a"]), "a");
        assert_eq!(listed(&["a", "b"]), "a and b");
        assert_eq!(listed(&["a", "b", "c"]), "a, b and c");
    }

    #[test]
    fn escapes_pointer_tokens() {
        assert_eq!(token("k8s.v1.cni.cncf.io/networks"), "k8s.v1.cni.cncf.io~1networks");
        assert_eq!(token("a~b"), "a~0b");
        for text in ["", "/", "a/b", "~/~1/é", "k8s.v1.cni.cncf.io/networks", "//"] {
            let mut pushed = String::new();
            push_token(&mut pushed, text);
            assert_eq!(pushed, token(text), "{text:?}");
        }
    }

    #[test]
    fn escapes_control_characters() {
        assert_eq!(printable("a\nb\u{1b}c", 10), "a\\nb\\u{1b}c");
        assert_eq!(printable("abcdef", 3), "abc…");
    }

    /// Each could turn the rest of a line around, hide in a name, or begin a new line in a reader of logs.
    #[test]
    fn escapes_format_characters() {
        let text = "a\u{202e}b\u{2066}\u{2028}\u{2029}\u{200b}\u{feff}\u{e0041}c";
        assert_eq!(
            printable(text, 20),
            "a\\u{202e}b\\u{2066}\\u{2028}\\u{2029}\\u{200b}\\u{feff}\\u{e0041}c"
        );
        assert_eq!(printable("Zürich 東京 é ½", 20), "Zürich 東京 é ½");
        assert!(INVISIBLE.windows(2).all(|pair| pair[0].0 <= pair[0].1 && pair[0].1 < pair[1].0));
    }

    #[test]
    fn long_texts_do_not_become_documents() {
        assert!(tree(&format!("[{}0]", "0,".repeat(MAX_TREE / 2 - 2))).is_ok());
        assert!(
            tree(&format!("[{}0]", "0,".repeat(MAX_TREE / 2)))
                .unwrap_err()
                .to_string()
                .contains("at most 262144")
        );
    }
}
