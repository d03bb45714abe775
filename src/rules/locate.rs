//! Where in a JSON text a value stands, for findings about values inside of text fields.

use super::embedded::spot;
use super::finding::Spot;
use crate::facts::go_json;
use crate::pod::decode::Pairs;
use serde_json::value::RawValue;

/// The place of the value that a JSON pointer names; of the nearest value around it where it is not there. Keys may stand
/// for some fields in any case (see [`go_json`]).
#[must_use]
pub(super) fn locate(text: &str, pointer: &str, fields: &[&'static str]) -> Spot {
    let mut fields = fields;
    let blank = text.len() - text.trim_start().len();
    let mut at = blank;
    let mut rest = text.trim();
    for token in pointer.split('/').skip(1) {
        let key = token.replace("~1", "/").replace("~0", "~");
        let Some(inner) = member(rest, &key, fields) else { break };
        at += offset(rest, inner);
        rest = inner;
        fields = go_json::below(fields, &key);
    }
    spot(text, at)
}

fn member<'a>(json: &'a str, key: &str, fields: &[&'static str]) -> Option<&'a str> {
    if json.starts_with('[') {
        let items: Vec<&RawValue> = serde_json::from_str(json).ok()?;
        return items.get(key.parse::<usize>().ok()?).map(|v| v.get());
    }
    let members: Pairs<'_, Option<&RawValue>> = serde_json::from_str(json).ok()?;
    if !fields.contains(&key) {
        return members.get(key).copied().flatten().map(RawValue::get);
    }
    // The value that counts: the last one, however its key is spelt.
    let alike = members.iter().filter(|(own, _)| own.eq_ignore_ascii_case(key));
    alike.map(|(_, value)| value.map(RawValue::get)).fold(None, |before, next| match before {
        Some(old) if next.is_none() && go_json::outlives_null(key, !old.starts_with(['{', '['])) => before,
        _ => next,
    })
}

/// Bytes from the start of a text to a part of it.
fn offset(whole: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize).min(whole.len())
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
            ("/E", 2, 1),
        ] {
            assert_eq!(locate(text, pointer, &[]), Spot { line, column }, "{pointer}");
        }
        assert_eq!(locate("{", "/a", &[]), Spot { line: 1, column: 1 });
    }

    #[test]
    fn finds_the_value_that_counts_for_go() {
        let line = |text: &str, pointer: &str| locate(text, pointer, go_json::CNI).line;
        let twice = "{\"vlan\":10,\n\"VLAN\":5000}";
        assert_eq!((line(twice, "/vlan"), locate(twice, "/vlan", &[]).line), (2, 1));
        assert_eq!(line("{\"VLAN\":10,\n\"vlan\":5000,\n\"VLan\":6}", "/vlan"), 3);
        assert_eq!(line("{\n\"mtu\":1,\n\"MTU\":null}", "/mtu"), 2);
        assert_eq!(line("{\n\"routes\":[1],\n\"Routes\":null}", "/routes"), 1);
        assert_eq!(line("{\"plugins\":[1,\n{\"Type\":\n\"a\"}]}", "/plugins/1/type"), 3);
        // Keys of maps, and those that libcni looks up in one.
        assert_eq!(line("{\"sysctl\":\n{\"vlan\":\n1,\"VLAN\":\n2}}", "/sysctl/vlan"), 3);
        assert_eq!(line("{\"plugins\":\n[1],\n\"Plugins\":\n[2]}", "/plugins/0"), 2);
    }
}
