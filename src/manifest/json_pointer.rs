//! RFC 6901 pointers over compact JSON text.
//!
//! The text is the output of [`super::write_json`]: valid, without blanks. So brackets and quotes are enough to skip a
//! value, and nothing has to be decoded or allocated for a document that is queried once.

use std::ops::Range;

/// The node at a pointer, as a byte range of the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// First byte.
    pub(super) start: usize,
    /// One past the last byte.
    pub(super) end: usize,
    /// Whether this is the node itself, not an ancestor of a missing node.
    pub(super) exact: bool,
}

/// Follows a pointer as far as nodes exist, from the node that starts at byte `start`.
pub(super) fn follow_pointer_as_far_as_possible(json: &str, mut start: usize, pointer: &str) -> Found {
    let bytes = json.as_bytes();
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
    Found { start, end: skip(bytes, start), exact }
}

/// The byte range of the node at a pointer in a JSON text without blanks; `None` where it does not exist.
#[must_use]
pub fn range_at_pointer(json: &str, pointer: &str) -> Option<Range<usize>> {
    let found = follow_pointer_as_far_as_possible(json, 0, pointer);
    found.exact.then_some(found.start..found.end)
}

/// Escapes one token of a pointer.
pub(super) fn escape(token: &str) -> String {
    token.replace('~', "~0").replace('/', "~1")
}

fn unescape(token: &str) -> String {
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
            let mut left = index(token)?;
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

/// The pointer from the node that starts at byte `start` to the one that starts at byte `wanted` inside of it; to the
/// innermost node around it if no node starts there.
pub(super) fn pointer_to_byte(json: &str, mut start: usize, wanted: usize) -> String {
    let mut pointer = String::new();
    while start < wanted {
        let Some((token, next)) = child_around(json, start, wanted) else { break };
        pointer.push('/');
        pointer.push_str(&token);
        start = next;
    }
    pointer
}

/// The child of a node that the byte `wanted` is in: its escaped token, and where it starts.
fn child_around(json: &str, start: usize, wanted: usize) -> Option<(String, usize)> {
    let bytes = json.as_bytes();
    let is_mapping = match bytes.get(start)? {
        b'{' => true,
        b'[' => false,
        _ => return None,
    };
    let (mut at, mut index) = (start + 1, 0usize);
    while !matches!(bytes.get(at)?, b'}' | b']') {
        let value = if is_mapping { skip(bytes, at) + 1 } else { at };
        let end = skip(bytes, value);
        if (value..end).contains(&wanted) {
            let key = || serde_json::from_str::<String>(json.get(at..value - 1)?).ok();
            return Some((if is_mapping { escape(&key()?) } else { index.to_string() }, value));
        }
        at = if *bytes.get(end)? == b',' { end + 1 } else { end };
        index += 1;
    }
    None
}

/// A sequence index: digits without a leading zero (RFC 6901, section 4).
fn index(token: &str) -> Option<usize> {
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
        (JSON.get(found.start..found.end).unwrap(), found.exact)
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
        for wanted in ["", "/a", "/a/1", "/a/1/b", "/a/2", "/c~1d", "/c~1d/e~0f", "/", "/q\""] {
            let start = follow_pointer_as_far_as_possible(JSON, 0, wanted).start;
            assert_eq!(pointer_to_byte(JSON, 0, start), wanted);
        }
        let below = follow_pointer_as_far_as_possible(JSON, 0, "/c~1d").start;
        assert_eq!(
            pointer_to_byte(JSON, below, follow_pointer_as_far_as_possible(JSON, 0, "/c~1d/e~0f").start),
            "/e~0f"
        );
        assert_eq!(pointer_to_byte(JSON, 0, JSON.len()), "");
    }

    #[test]
    fn missing_nodes_lead_to_the_nearest_ancestor() {
        assert_eq!(text("/x/y"), (JSON, false));
        assert_eq!(text("a"), (JSON, false));
        assert_eq!(text("/a/9"), (r#"[1,{"b":"x,}]\""},[],""]"#, false));
        assert!(!text("/a/00").1);
        assert_eq!(text("/a/2/0"), ("[]", false));
        assert_eq!(text("/a/0/z"), ("1", false));
        assert_eq!(follow_pointer_as_far_as_possible("", 0, "/a"), Found { start: 0, end: 0, exact: false });
    }
}
