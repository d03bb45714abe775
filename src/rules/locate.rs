//! Where in a JSON text a value stands, for findings about values inside of text fields.

use super::finding::Spot;
use crate::pod::decode::Pairs;
use serde_json::value::RawValue;

/// The place of the value that a JSON pointer names; of the nearest value around it where it is not there.
#[must_use]
pub(super) fn locate(text: &str, pointer: &str) -> Spot {
    let blank = text.len() - text.trim_start().len();
    let mut at = blank;
    let mut rest = text.trim();
    for token in pointer.split('/').skip(1) {
        let key = token.replace("~1", "/").replace("~0", "~");
        let Some(inner) = member(rest, &key) else { break };
        at += offset(rest, inner);
        rest = inner;
    }
    spot(text, at)
}

fn member<'a>(json: &'a str, key: &str) -> Option<&'a str> {
    if json.starts_with('[') {
        let items: Vec<&RawValue> = serde_json::from_str(json).ok()?;
        return items.get(key.parse::<usize>().ok()?).map(|v| v.get());
    }
    let members: Pairs<'_, Option<&RawValue>> = serde_json::from_str(json).ok()?;
    // A key of another case may stand for the field that is meant (`facts::go_json`).
    let alike = || members.iter().filter(|(own, _)| own.eq_ignore_ascii_case(key)).last().map(|(_, v)| v);
    members.get(key).or_else(alike).copied().flatten().map(RawValue::get)
}

/// Bytes from the start of a text to a part of it.
fn offset(whole: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize).min(whole.len())
}

fn spot(text: &str, offset: usize) -> Spot {
    let before = text.get(..offset).unwrap_or(text);
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    Spot { line: count(line), column: count(column) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_values_and_what_is_around_missing_ones() {
        let text = "\n{\"a\": {\"b/c\": [1, \"é\", {\"d\": 7}]},\n \"e\": 2}";
        for (pointer, line, column) in [
            ("", 2, 1),
            ("/e", 3, 7),
            ("/a", 2, 7),
            ("/a/b~1c", 2, 15),
            ("/a/b~1c/2/d", 2, 30),
            ("/a/b~1c/2/x", 2, 24),
            ("/a/b~1c/9", 2, 15),
            ("/x/y", 2, 1),
            ("/E", 3, 7),
        ] {
            assert_eq!(locate(text, pointer), Spot { line, column }, "{pointer}");
        }
        assert_eq!(locate("{", "/a"), Spot { line: 1, column: 1 });
    }
}
