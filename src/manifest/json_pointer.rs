//! RFC 6901 pointers over compact JSON text.
//!
//! The text is the output of [`super::write_json`]: valid, without blanks. So brackets and quotes are enough to skip a
//! value, and nothing has to be decoded or allocated for a document that is queried once.

use std::ops::Range;

/// The node at a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Its first byte in the text.
    pub(super) start: usize,
    /// Whether this is the node itself, not an ancestor of a missing node.
    pub(super) exact: bool,
}

/// Follows a pointer as far as nodes exist, from the node that starts at byte `start`.
pub(super) fn follow_pointer_as_far_as_possible(json: &str, mut start: usize, pointer: &str) -> Found {
    let mut exact = pointer.is_empty() || pointer.starts_with('/');
    if exact {
        for token in pointer.split('/').skip(1) {
            match child(json, start, &unescape(token)) {
                Some(next) => start = next,
                None => {
                    exact = false;
                    break;
                }
            }
        }
    }
    Found { start, exact }
}

/// The byte range of the node at a pointer in a JSON text without blanks; `None` where it does not exist.
#[must_use]
pub fn range_at_pointer(json: &str, pointer: &str) -> Option<Range<usize>> {
    let found = follow_pointer_as_far_as_possible(json, 0, pointer);
    found.exact.then(|| found.start..end_of_value(json, found.start))
}

/// One past the last byte of the value that starts at byte `start`.
pub(super) fn end_of_value(json: &str, start: usize) -> usize {
    skip(json.as_bytes(), start)
}

/// Escapes one token of a pointer.
pub(super) fn escape(token: &str) -> String {
    token.replace('~', "~0").replace('/', "~1")
}

pub(super) fn unescape(token: &str) -> String {
    // In this order: `~01` is `~1`, not `/` (RFC 6901, section 4).
    token.replace("~1", "/").replace("~0", "~")
}

fn child(json: &str, start: usize, token: &str) -> Option<usize> {
    let bytes = json.as_bytes();
    let mut at = start + 1;
    match bytes.get(start)? {
        b'{' => {
            while *bytes.get(at)? != b'}' {
                let end = skip(bytes, at);
                let value = end + 1;
                if same_key(json.get(at..end)?, token) {
                    return Some(value);
                }
                at = skip(bytes, value);
                if *bytes.get(at)? == b',' {
                    at += 1;
                }
            }
            None
        }
        b'[' => {
            let mut left = sequence_index(token)?;
            while *bytes.get(at)? != b']' {
                if left == 0 {
                    return Some(at);
                }
                left -= 1;
                at = skip(bytes, at);
                if *bytes.get(at)? == b',' {
                    at += 1;
                }
            }
            None
        }
        _ => None,
    }
}

/// The pointers from the node that starts at byte `start` to nodes inside of it, by the bytes that these start at, in ascending
/// order. One pass over the text up to the last of them.
pub(super) fn pointers_to_bytes(
    json: &str,
    start: usize,
    wanted: impl IntoIterator<Item = usize>,
) -> Vec<String> {
    let mut at = start;
    let mut open: Vec<Open> = Vec::new();
    let pointers = wanted.into_iter().map(|wanted| {
        while at < wanted
            && let Some(next) = after_token(json.as_bytes(), at, &mut open)
        {
            at = next;
        }
        pointer_of(json, &open)
    });
    pointers.collect()
}

/// A mapping or sequence around a place in the text, and the child of it that the place is in.
enum Open {
    /// The bytes of the key, with its quotes; `None` before the first key.
    Mapping(Option<Range<usize>>),
    /// The number of the item.
    Sequence(usize),
}

/// Reads the bracket, string or other byte at `at`, and returns the place after it; `None` at the end.
fn after_token(bytes: &[u8], at: usize, open: &mut Vec<Open>) -> Option<usize> {
    match bytes.get(at)? {
        b'"' => {
            let end = skip_string(bytes, at);
            // A string that a colon follows is a key.
            if let (Some(Open::Mapping(key)), Some(b':')) = (open.last_mut(), bytes.get(end)) {
                *key = Some(at..end);
            }
            return Some(end);
        }
        b'{' => open.push(Open::Mapping(None)),
        b'[' => open.push(Open::Sequence(0)),
        b'}' | b']' => {
            open.pop();
        }
        b',' => {
            if let Some(Open::Sequence(number)) = open.last_mut() {
                *number += 1;
            }
        }
        _ => {}
    }
    Some(at + 1)
}

fn pointer_of(json: &str, open: &[Open]) -> String {
    let mut pointer = String::new();
    for around in open {
        pointer.push('/');
        match around {
            Open::Mapping(key) => {
                let quoted = key.clone().and_then(|key| json.get(key)).unwrap_or_default();
                let key: String = serde_json::from_str(quoted).unwrap_or_default();
                pointer.push_str(&escape(&key));
            }
            Open::Sequence(number) => pointer.push_str(&number.to_string()),
        }
    }
    pointer
}

/// A sequence index: digits without a leading zero (RFC 6901, section 4).
pub(super) fn sequence_index(token: &str) -> Option<usize> {
    let digits = !token.is_empty() && token.bytes().all(|b| b.is_ascii_digit());
    if !digits || (token.len() > 1 && token.starts_with('0')) {
        return None;
    }
    token.parse().ok()
}

/// Whether a JSON string, quotes included, spells `token`.
fn same_key(quoted: &str, token: &str) -> bool {
    let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(quoted);
    if !inner.contains('\\') {
        return inner == token;
    }
    serde_json::from_str::<String>(quoted).is_ok_and(|key| key == token)
}

/// The end of the value that starts at `start`.
fn skip(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    let mut depth = 0usize;
    loop {
        match bytes.get(at) {
            None => return at,
            Some(b'"') => at = skip_string(bytes, at),
            Some(b'{' | b'[') => {
                depth += 1;
                at += 1;
                continue;
            }
            Some(b'}' | b']') => {
                if depth == 0 {
                    return at;
                }
                depth -= 1;
                at += 1;
            }
            Some(b',' | b':') => {
                if depth == 0 {
                    return at;
                }
                at += 1;
                continue;
            }
            Some(_) => {
                at += 1;
                continue;
            }
        }
        if depth == 0 {
            return at;
        }
    }
}

fn skip_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    loop {
        match bytes.get(at) {
            None => return at,
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{"a":[1,{"b":"x,}]\""},[],""],"c/d":{"e~f":null},"":-1.5,"q\"":true}"#;

    fn text(pointer: &str) -> (&'static str, bool) {
        let found = follow_pointer_as_far_as_possible(JSON, 0, pointer);
        (JSON.get(found.start..end_of_value(JSON, found.start)).unwrap(), found.exact)
    }

    #[test]
    fn existing_nodes() {
        assert_eq!(text(""), (JSON, true));
        assert_eq!(text("/a/0"), ("1", true));
        assert_eq!(text("/a/1/b"), (r#""x,}]\"""#, true));
        assert_eq!(text("/a/2"), ("[]", true));
        assert_eq!(text("/a/3"), (r#""""#, true));
        assert_eq!(text("/c~1d/e~0f"), ("null", true));
        assert_eq!(text("/"), ("-1.5", true));
        assert_eq!(text("/q\""), ("true", true));
    }

    #[test]
    fn pointers_of_nodes() {
        let start = |pointer| follow_pointer_as_far_as_possible(JSON, 0, pointer).start;
        let pointers = ["", "/a", "/a/1", "/a/1/b", "/a/2", "/c~1d", "/c~1d/e~0f", "/", "/q\""];
        assert_eq!(pointers_to_bytes(JSON, 0, pointers.map(start)), pointers);
        assert_eq!(pointers_to_bytes(JSON, 0, ["/a/3", "/q\"", "/q\""].map(start)), ["/a/3", "/q\"", "/q\""]);
        assert_eq!(pointers_to_bytes(JSON, start("/c~1d"), [start("/c~1d/e~0f")]), ["/e~0f"]);
        assert_eq!(pointers_to_bytes(JSON, 0, [JSON.len(), JSON.len() + 9]), ["", ""]);
    }

    #[test]
    fn missing_nodes_lead_to_the_nearest_ancestor() {
        assert_eq!(text("/x/y"), (JSON, false));
        assert_eq!(text("a"), (JSON, false));
        assert_eq!(text("/a/9"), (r#"[1,{"b":"x,}]\""},[],""]"#, false));
        assert!(!text("/a/00").1);
        assert_eq!(text("/a/2/0"), ("[]", false));
        assert_eq!(text("/a/0/z"), ("1", false));
        assert_eq!(follow_pointer_as_far_as_possible("", 0, "/a"), Found { start: 0, exact: false });
    }
}
