//! Members of objects within each other, for a search on every level: a long text deep inside is skipped once, and not again
//! for each level around it.

use super::cursor_in_text::{Cursor, after_digits, after_space, from_quote_or_backslash, has_controls};
use std::borrow::Cow;

/// Shorter objects and lists are skipped again (bytes): that is quicker than looking them up.
const LONG_CONTAINER: usize = 256;
/// Deepest level on which long objects and lists are remembered.
const MAX_DEPTH: usize = 20;

/// A JSON text that is searched for what has some key.
pub(crate) struct TextSearchedForKey<'a> {
    text: &'a str,
    key: &'static str,
    controls: bool,
    /// Where the long objects and lists begin and end that have the key somewhere inside, in the order of their ends.
    long: Vec<(usize, usize)>,
}

/// Members of an object. A key given twice counts with its last value, as in Go.
pub(crate) struct Members<'a>(Vec<(Cow<'a, str>, &'a str)>);

impl<'a> Members<'a> {
    /// The text of a value that is not null.
    pub(crate) fn get(&self, key: &str) -> Option<&'a str> {
        self.0.iter().rev().find(|(k, _)| k == key).map(|(_, value)| *value).filter(|value| *value != "null")
    }

    /// The values that are not null, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.0.iter().filter(|(_, value)| *value != "null").map(|(key, value)| (&**key, *value))
    }
}

impl<'a> TextSearchedForKey<'a> {
    pub(crate) fn new(text: &'a str, key: &'static str) -> Self {
        Self { text, key, controls: has_controls(text), long: long_containers(text, key) }
    }

    /// Whether the key is somewhere in a part of the text.
    pub(crate) fn has_key(&self, part: &str) -> bool {
        match part.len() < LONG_CONTAINER || !part.starts_with(['{', '[']) {
            true => part.split('"').any(|text| text == self.key),
            false => self.end_of(self.offset_of_part(part)).is_some(),
        }
    }

    /// The members of an object that is a part of the text; `None` if it is not one.
    pub(crate) fn members(&self, object: &'a str) -> Option<Members<'a>> {
        let mut cursor = Cursor::of_part(object, self.controls);
        cursor.step_past(b'{')?;
        let mut members = Vec::new();
        if cursor.step_past(b'}').is_some() {
            return Some(Members(members));
        }
        loop {
            cursor.skip_space_and_peek()?;
            let start = cursor.at();
            let key = match cursor.take_text_without_escapes() {
                Some(key) => Cow::Borrowed(key),
                None => {
                    let key = cursor.decode_text_at(start)?;
                    cursor.skip_value()?;
                    Cow::Owned(key)
                }
            };
            cursor.step_past(b':')?;
            members.push((key, self.cut_next_value(object, &mut cursor)?));
            if cursor.step_past(b',').is_none() {
                return cursor.step_past(b'}').map(|()| Members(members));
            }
        }
    }

    /// The elements of a list that is a part of the text; `None` if it is not one.
    pub(crate) fn elements(&self, list: &'a str) -> Option<Vec<&'a str>> {
        let mut cursor = Cursor::of_part(list, self.controls);
        cursor.step_past(b'[')?;
        let mut elements = Vec::new();
        if cursor.step_past(b']').is_some() {
            return Some(elements);
        }
        loop {
            elements.push(self.cut_next_value(list, &mut cursor)?);
            if cursor.step_past(b',').is_none() {
                return cursor.step_past(b']').map(|()| elements);
            }
        }
    }

    /// The text of the next value.
    fn cut_next_value(&self, within: &'a str, cursor: &mut Cursor<'a>) -> Option<&'a str> {
        cursor.skip_space_and_peek()?;
        let start = cursor.at();
        let place = self.offset_of_part(within) + start;
        match self.end_of(place) {
            Some(end) => cursor.step_by(end - place),
            None => cursor.skip_value()?,
        }
        cursor.text_since(start)
    }

    /// The bytes of a part without the long objects and lists in it that have the key.
    pub(crate) fn length_without_long_containers(&self, part: &str) -> usize {
        let start = self.offset_of_part(part);
        let (mut at, mut length) = (start + 1, part.len());
        loop {
            let next = self.long.partition_point(|(start, _)| *start < at);
            match self.long.get(next) {
                Some((inner, end)) if *inner < start + part.len() => {
                    length = length.saturating_sub(end - inner);
                    at = *end;
                }
                _ => return length,
            }
        }
    }

    /// Where a part of the text begins (bytes).
    fn offset_of_part(&self, part: &str) -> usize {
        part.as_ptr().addr().wrapping_sub(self.text.as_ptr().addr())
    }

    /// The end of a long object or list that has the key, by its start.
    fn end_of(&self, start: usize) -> Option<usize> {
        let at = self.long.binary_search_by_key(&start, |(start, _)| *start).ok()?;
        self.long.get(at).map(|(_, end)| *end)
    }
}

/// The long objects and lists of a text that have a key somewhere inside, in the order of their starts.
fn long_containers(text: &str, key: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut open: Vec<(usize, bool)> = Vec::new();
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let Some(end) = end_of_text(bytes, at + 1) else { break };
                if bytes.get(at + 1..end) == Some(key.as_bytes())
                    && let Some((_, has)) = open.last_mut()
                {
                    *has = true;
                }
                at = end;
            }
            b'{' | b'[' => {
                depth += 1;
                if depth <= MAX_DEPTH {
                    open.push((at, false));
                }
            }
            b'}' | b']' => {
                if depth <= MAX_DEPTH
                    && let Some((start, true)) = open.pop()
                {
                    if let Some((_, around)) = open.last_mut() {
                        *around = true;
                    }
                    if at + 1 - start >= LONG_CONTAINER {
                        found.push((start, at + 1));
                    }
                }
                depth = depth.saturating_sub(1);
            }
            b' ' | b'\n' | b'\t' | b'\r' => {
                let after = after_space(bytes.get(at + 1..).unwrap_or_default());
                at = bytes.len() - after.len();
                continue;
            }
            b'0'..=b'9' => {
                let after = bytes.get(at..).and_then(after_digits).unwrap_or_default();
                at = bytes.len() - after.len();
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found.sort_unstable();
    found
}

/// Where the closing quote of a text is.
fn end_of_text(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        let rest = from_quote_or_backslash(bytes.get(at..)?)?;
        at = bytes.len() - rest.len();
        if rest.first() == Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::types_of_decoded_fields::{List, Pairs};
    use proptest::prelude::*;
    use serde_json::Value;
    use serde_json::value::RawValue;

    /// Every object and list of a text has the members that serde_json reads.
    fn same(nested: &TextSearchedForKey<'static>, text: &'static str) {
        if let Some(members) = nested.members(text) {
            let known: Pairs<'_, Option<&RawValue>> = serde_json::from_str(text).unwrap();
            let known: Vec<(&str, &str)> =
                known.iter().filter_map(|(k, v)| Some((k, v.as_ref()?.get()))).collect();
            assert_eq!(members.iter().collect::<Vec<_>>(), known);
            for (_, value) in members.iter() {
                assert_eq!(nested.has_key(value), value.contains("\"containers\""), "{value}");
                same(nested, value);
            }
        } else if let Some(elements) = nested.elements(text) {
            let known: List<Option<&RawValue>> = serde_json::from_str(text).unwrap();
            assert_eq!(elements, known.0.iter().map(|v| v.map_or("null", RawValue::get)).collect::<Vec<_>>());
            elements.into_iter().for_each(|element| same(nested, element));
        } else {
            assert!(!text.starts_with(['{', '[']), "{text}");
        }
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i32>().prop_map(Value::from),
            "[a-z\"\\\\\n{}\\[\\]]{0,300}".prop_map(Value::from),
            Just(Value::from("containers")),
        ];
        leaf.prop_recursive(30, 60, 4, |inner| {
            let key = prop_oneof![Just("containers".to_owned()), Just("a\"b".to_owned()), "[a-c]{1,200}"];
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((key, inner), 0..4)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn members_are_those_that_serde_json_reads(value in values(), pretty: bool) {
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
            let text: &'static str = text.unwrap().leak();
            same(&TextSearchedForKey::new(text, "containers"), text);
        }
    }

    #[test]
    fn a_key_given_twice_counts_with_its_last_value() {
        let text = r#"{"a":1,"a":2,"b":null}"#;
        let members = TextSearchedForKey::new(text, "containers").members(text).unwrap();
        assert_eq!((members.get("a"), members.get("b")), (Some("2"), None));
        for broken in ["{\"a\":1", "{\"a\" 1}", "{\"a\":}", "[]", "", "{\"a\":1,}"] {
            assert!(TextSearchedForKey::new(broken, "containers").members(broken).is_none(), "{broken}");
        }
    }
}
