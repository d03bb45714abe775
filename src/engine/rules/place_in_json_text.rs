//! The place of a value in a JSON text, for findings about values inside text fields.
//!
//! Each object and list on the way to a value is read. So 50 findings about members of one long object would read it 50
//! times. The bytes that are read for all places in one text have a limit; after it, a place is that of the nearest value
//! around that is known.

use super::finding::LineAndColumn;
use super::json_in_text_fields::line_and_column;
use crate::json::as_go_reads;
use crate::json::types_of_decoded_fields::Pairs;
use serde_json::value::RawValue;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Range;

/// Bytes that may be read for the places in one text, beside [`READINGS_OF_TEXT`].
const BYTES_FOR_EVERY_TEXT: usize = 256 << 10;

/// How often a text of any length may be read.
const READINGS_OF_TEXT: usize = 4;

/// Places in one text. The items of a list that was walked are kept: a list may be as long as the text, and each of its items
/// wrong.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// Bytes of each item, by the pointer of the list.
    lists: RefCell<HashMap<String, Vec<Range<usize>>>>,
    /// Bytes of each object or list that was walked through, by its pointer: the values around it are not read again.
    around: RefCell<HashMap<String, Range<usize>>>,
    /// Bytes that were read.
    read: Cell<usize>,
}

/// The place of one value of a text, see [`Places::locate`].
#[must_use]
pub(super) fn locate(text: &str, pointer: &str, fields: &[&'static str]) -> LineAndColumn {
    Places::default().locate(text, pointer, fields)
}

impl Places {
    /// The place of the value that a JSON pointer names; of the nearest value around it where it is not there. Keys may
    /// stand for some fields in any case (see [`crate::json::as_go_reads`]). The text is the same in every call.
    #[must_use]
    pub(super) fn locate(&self, text: &str, pointer: &str, fields: &[&'static str]) -> LineAndColumn {
        let whole = text.trim();
        let start = offset(text, whole);
        let (mut value, mut fields, mut walked) = (start..start + whole.len(), fields, 0);
        // The innermost item of a list, or value around, that was walked through before.
        let known = pointer.rmatch_indices('/').find_map(|(at, _)| {
            let (outer, rest) = pointer.split_at_checked(at)?;
            let token = rest.split('/').nth(1)?;
            let of_list = |lists: &HashMap<String, Vec<Range<usize>>>| {
                let item = lists.get(outer)?.get(token.parse::<usize>().ok()?)?.clone();
                Some((outer, item, at + 1 + token.len()))
            };
            let around = || Some((outer, self.around.borrow().get(outer)?.clone(), at));
            of_list(&self.lists.borrow()).or_else(around)
        });
        if let Some((list, item, end)) = known {
            fields = list.split('/').fold(fields, as_go_reads::fields_below_key);
            (value, walked) = (item, end);
        }
        for token in pointer.get(walked..).unwrap_or_default().split('/').skip(1) {
            let json = text.get(value.clone()).unwrap_or_default();
            self.read.set(self.read.get().saturating_add(json.len()));
            if self.read.get()
                > BYTES_FOR_EVERY_TEXT.saturating_add(text.len().saturating_mul(READINGS_OF_TEXT))
            {
                break;
            }
            let key = token.replace("~1", "/").replace("~0", "~");
            let inner = if json.starts_with('[') {
                let list = pointer.get(..walked).unwrap_or_default();
                self.item(text, json, list, &key)
            } else {
                member(json, &key, fields).map(|inner| range(text, inner))
            };
            let Some(inner) = inner else { break };
            value = inner;
            fields = as_go_reads::fields_below_key(fields, &key);
            walked += 1 + token.len();
            if walked < pointer.len() {
                let outer = pointer.get(..walked).unwrap_or_default().to_owned();
                self.around.borrow_mut().insert(outer, value.clone());
            }
        }
        line_and_column(text, value.start)
    }

    /// An item of a list, whose pointer is `list`.
    fn item(&self, text: &str, json: &str, list: &str, key: &str) -> Option<Range<usize>> {
        let items: Vec<&RawValue> = crate::json::reader::read(json).ok()?;
        let items: Vec<Range<usize>> = items.into_iter().map(|item| range(text, item.get())).collect();
        let item = items.get(key.parse::<usize>().ok()?).cloned();
        self.lists.borrow_mut().insert(list.to_owned(), items);
        item
    }
}

/// The value of a key.
fn member<'a>(json: &'a str, key: &str, fields: &[&'static str]) -> Option<&'a str> {
    let members: Pairs<'_, Option<&RawValue>> = crate::json::reader::read(json).ok()?;
    if !fields.contains(&key) {
        return members.get(key).copied().flatten().map(RawValue::get);
    }
    // The value that counts: the last one, however its key is spelt.
    let alike = members.iter().filter(|(own, _)| own.eq_ignore_ascii_case(key));
    alike.map(|(_, value)| value.map(RawValue::get)).fold(None, |before, next| match before {
        Some(old)
            if next.is_none() && as_go_reads::does_value_survive_null(key, !old.starts_with(['{', '['])) =>
        {
            before
        }
        _ => next,
    })
}

/// Bytes from the start of a text to a part of it.
fn offset(whole: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize).min(whole.len())
}

fn range(whole: &str, part: &str) -> Range<usize> {
    let start = offset(whole, part);
    start..start + part.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_values_and_what_is_around_missing_ones() {
        let places = Places::default();
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
            assert_eq!(locate(text, pointer, &[]), LineAndColumn { line, column }, "{pointer}");
            assert_eq!(places.locate(text, pointer, &[]), LineAndColumn { line, column }, "{pointer} again");
        }
        assert_eq!(places.lists.borrow().keys().collect::<Vec<_>>(), ["/a/b~1c"]);
        assert_eq!(locate("{", "/a", &[]), LineAndColumn { line: 1, column: 1 });
    }

    #[test]
    fn items_of_a_list_are_found_once() {
        let text = "{\"plugins\": [{\"a\": [1,\n2]},\n{\"VLAN\":\n3, \"sysctl\": {\"Vlan\":\n4}}]}";
        let places = Places::default();
        for _ in 0..2 {
            for (pointer, line) in [
                ("/plugins/1/vlan", 4),
                ("/plugins/1/sysctl/vlan", 4),
                ("/plugins/1/sysctl/Vlan", 5),
                ("/plugins/0/a/1", 2),
                ("/plugins/2/vlan", 1),
                ("/plugins", 1),
            ] {
                assert_eq!(places.locate(text, pointer, as_go_reads::CNI_FIELDS).line, line, "{pointer}");
            }
        }
        // A list that is known is not read again.
        let other = text.replace("plugins", "Plugins");
        assert_eq!(places.locate(&other, "/plugins/1/vlan", as_go_reads::CNI_FIELDS).line, 4);
        assert_eq!(locate(&other, "/plugins/1/vlan", as_go_reads::CNI_FIELDS).line, 1);
    }

    /// Later places of a long object are those of the object.
    #[test]
    fn a_text_is_read_a_few_times() {
        let members: Vec<_> = (0..60_000).map(|n| format!("\n\"k{n}\":{n}")).collect();
        let text = format!("{{\"sysctl\":{{{}}}}}", members.join(","));
        let places = Places::default();
        let lines: Vec<_> =
            (0..50).map(|n| places.locate(&text, &format!("/sysctl/k{n}"), &[]).line).collect();
        let known = lines.iter().zip(2..).take_while(|(line, expected)| **line == *expected).count();
        assert!((3..6).contains(&known), "{known}");
        assert!(lines.iter().skip(known).all(|line| *line == 1));
        let short = "{\"sysctl\":{\"a\":1,\n\"b\":2}}";
        let places = Places::default();
        assert!((0..50).all(|_| places.locate(short, "/sysctl/b", &[]).line == 2));
    }

    #[test]
    fn finds_the_value_that_counts_for_go() {
        let line = |text: &str, pointer: &str| locate(text, pointer, as_go_reads::CNI_FIELDS).line;
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
