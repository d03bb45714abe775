//! All spellings of the keys `apiVersion` and `kind` in YAML and JSON, for texts that this project cannot read and kubectl may.

use crate::manifest::{BYTE_ORDER_MARK, begins_with_line_break};
use std::borrow::Cow;

/// The keys that make a document a Kubernetes object.
const KEYS: [&str; 2] = ["apiVersion", "kind"];

/// Whether a text that kubectl may read has the letters of both keys, in any spelling of YAML.
pub(super) fn may_spell_keys(text: &str) -> bool {
    let plain = without_escapes(text);
    // kubectl may leave out a character behind such a mark.
    let has_mark_inside = text.trim_start_matches(BYTE_ORDER_MARK).contains(BYTE_ORDER_MARK);
    let has_both = KEYS.iter().all(|key| plain.contains(key));
    has_mark_inside || has_both || has_escaped_key(text, &plain) || may_have_binary_tag(text)
}

/// Whether a text that cannot be read may have both keys, in any spelling of YAML, for a reader that can read it. A template of
/// Helm is not YAML, but has both. Settings of other tools have escapes, patterns such as `"!**/x"`, and the words themselves.
pub(super) fn may_have_keys_of_manifest(text: &str) -> bool {
    let plain = without_escapes(text);
    let may_stand_elsewhere = has_alias(&plain) || has_explicit_key(&plain);
    let has_both = KEYS.iter().all(|key| has_key(&plain, key) || may_stand_elsewhere && plain.contains(key));
    has_both || has_escaped_key(text, &plain) || may_have_binary_tag(text)
}

/// Whether a text has a key that is not in it without its escapes.
fn has_escaped_key(text: &str, plain: &str) -> bool {
    KEYS.iter().any(|key| plain.matches(key).count() > text.matches(key).count())
}

/// Whether a text that is not YAML has a key: the word, and a colon behind it.
fn has_key(text: &str, key: &str) -> bool {
    text.match_indices(key).any(|(at, _)| {
        let behind = text.get(at + key.len()..).unwrap_or_default();
        behind.strip_prefix(['"', '\'']).unwrap_or(behind).trim_ascii_start().starts_with(':')
    })
}

/// The text with the characters that its escapes stand for, as far as these can spell a key: `\x6b`, `\u006b`, `\U0000006b`, and
/// a backslash at the end of a line, which joins it with the next one.
fn without_escapes(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split('\\');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        if begins_with_line_break(part.as_bytes()) {
            plain.push_str(part.trim_start());
            continue;
        }
        let mut chars = part.chars();
        let digits = match chars.next() {
            Some('x') => 2,
            Some('u') => 4,
            Some('U') => 8,
            _ => 0,
        };
        let code = chars.as_str().get(..digits).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        match code.and_then(char::from_u32) {
            Some(c) => {
                plain.push(c);
                plain.push_str(chars.as_str().get(digits..).unwrap_or_default());
            }
            None => {
                plain.push('\\');
                plain.push_str(part);
            }
        }
    }
    Cow::Owned(plain)
}

/// Whether a text has an anchor and an alias: the word of a key may stand where the anchor is.
fn has_alias(text: &str) -> bool {
    let has = |sign: char| {
        starts_of_tokens(text, sign)
            .any(|rest| rest.starts_with(|c: char| c.is_ascii_alphanumeric() || "-_".contains(c)))
    };
    has('&') && has('*')
}

/// Whether a text has `? KEY`: a comment may stand between the key and its colon. Inside of `{` or `[` there may be no blank
/// (yaml.v2 scannerc.go, `yaml_parser_fetch_next_token`), and an anchor or a tag may stand before the key.
fn has_explicit_key(text: &str) -> bool {
    let is_key = |rest: &str| KEYS.iter().any(|key| rest.starts_with(key));
    starts_of_tokens(text, '?').any(|rest| {
        rest.starts_with(|c: char| c.is_whitespace() || "&*!".contains(c))
            || is_key(rest.trim_start_matches(['"', '\'']))
    })
}

/// What follows a sign of YAML wherever it can begin a token. One that follows `?` has no blank before it inside of `{` or `[`.
fn starts_of_tokens(text: &str, sign: char) -> impl Iterator<Item = &str> {
    text.match_indices(sign).filter_map(move |(at, _)| {
        let before = text.get(..at)?.chars().next_back();
        let begins = before.is_none_or(|c| c.is_whitespace() || "[{,:?".contains(c));
        begins.then(|| text.get(at + sign.len_utf8()..)).flatten()
    })
}

/// Whether a text has a tag that may be `!!binary`, whose value is a key in base64.
fn may_have_binary_tag(text: &str) -> bool {
    let is_escape = |rest: &str| rest.get(..2).is_some_and(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
    // A word may have the tag anywhere: `{'!':1,!!binary a2luZA==: Pod}`.
    let mut words = text.split_whitespace().filter_map(|word| word.split_once('!'));
    words.any(|(_, tag)| tag.contains(":binary") || tag.split('%').skip(1).any(is_escape))
        || ["!!binary", "%TAG ", "%TAG\t"].iter().any(|part| text.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_only_kubectl_reads() {
        // Only kubectl reads these texts: the parser of this project refuses each of them.
        for text in [
            "apiVersion: v1\nkind: Pod\n@",
            "\"api\\x56ersion\": v1\n\"k\\x69nd\": Pod\n@",
            "{\"api\\u0056ersion\": v1, \"\\U0000006bind\": Pod\n@",
            "? \"ki\\\r\n  nd\"\n: Pod\n@",
            "!!binary a2luZA==: Pod\n@",
            "!!bin%61ry a2luZA==: Pod\n@",
            "!<tag:yaml.org,2002:binary> a2luZA==: Pod\n@",
            "%TAG !b! tag:yaml.org,2002:bin\r---\r!b!ary a2luZA==: Pod\r@",
            "a: [&a kind, &b apiVersion]\n*a : Pod\n*b : v1\n@",
            "? kind # a key\n: Pod\n? apiVersion # a key\n: v1\n@",
            "{'!':1,!!binary a2luZA==: Pod}\n@",
            "{a: &a kind, b: &b apiVersion,?*a : Pod,?*b : v1}\n@",
            "{?kind # a key\n : Pod,?'apiVersion' # a key\n : v1}\n@",
            "{?&a kind # a key\n : Pod,?!b apiVersion # a key\n : v1}\n@",
        ] {
            assert!(may_have_keys_of_manifest(text), "{text}");
        }
        for text in [
            "{\"words\": [\"apiVersion\", \"kind\"], \"exclude\": [\"**/*.o\", \"!**/binary/**\", \"\\\\.js$\"]}\n@",
            "// &a, *.o, ?.x: \\u0041 \\x41\n[\"apiVersion\", \"kind\"]\n@",
            "on: push\nrun: |\n  docker run \\\n    --name kind \\\n    image !100%\n@",
            "stages: [!reference [.setup, script]]\n@",
            "// https://a/?kind=b&c=d apiVersion\n{\"a\": \"is it ?\", \"b\": \"**/*\"}\n@",
            "on: {paths: [\"!binary/**\", \"!!x\"]}\n@",
        ] {
            assert!(!may_have_keys_of_manifest(text), "{text}");
        }
    }
}
