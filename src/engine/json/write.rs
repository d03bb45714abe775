//! Pieces of JSON text, written without a tree of values.

use crate::text::{push_json_escaped, push_json_text};
use std::fmt::{self, Write};

/// Writes an object.
pub(crate) fn push_object(out: &mut String, members: impl FnOnce(&mut MemberWriter<'_>)) {
    let mut writer = MemberWriter { out, before: '{' };
    members(&mut writer);
    if writer.before == '{' {
        writer.out.push('{');
    }
    writer.out.push('}');
}

/// Writes a list.
pub(crate) fn push_list<T>(
    out: &mut String,
    items: impl Iterator<Item = T>,
    mut item: impl FnMut(&mut String, T),
) {
    let mut before = '[';
    for next in items {
        out.push(before);
        before = ',';
        item(out, next);
    }
    out.push_str(if before == '[' { "[]" } else { "]" });
}

/// Writes a text that is made of parts.
pub(crate) fn push_text_of_parts(out: &mut String, text: fmt::Arguments<'_>) {
    out.push('"');
    // Writing into a String does not fail.
    let _ = Escaped(out).write_fmt(text);
    out.push('"');
}

/// The inside of a text.
struct Escaped<'o>(&'o mut String);

impl Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        push_json_escaped(self.0, text);
        Ok(())
    }
}

/// Writes the members of an object.
pub(crate) struct MemberWriter<'o> {
    out: &'o mut String,
    /// What stands before the next member.
    before: char,
}

impl MemberWriter<'_> {
    /// Writes the key of a field, which has nothing to escape; its value follows.
    pub(crate) fn push_key(&mut self, key: &'static str) -> &mut String {
        self.out.push(self.before);
        self.before = ',';
        self.out.push('"');
        self.out.push_str(key);
        self.out.push_str("\":");
        self.out
    }

    /// Writes any key; its value follows.
    pub(crate) fn push_escaped_key(&mut self, name: &str) -> &mut String {
        self.out.push(self.before);
        self.before = ',';
        push_json_text(self.out, name);
        self.out.push(':');
        self.out
    }

    /// A member with a text.
    pub(crate) fn push_text_member(&mut self, key: &'static str, text: &str) {
        push_json_text(self.push_key(key), text);
    }

    /// A member with an object.
    pub(crate) fn push_object_member(
        &mut self,
        key: &'static str,
        members: impl FnOnce(&mut MemberWriter<'_>),
    ) {
        push_object(self.push_key(key), members);
    }
}

/// A text.
pub(crate) fn json_of_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_json_text(&mut out, text);
    out
}

/// A list of values that are JSON already.
pub(crate) fn json_of_list(items: &[String]) -> String {
    let mut out = String::with_capacity(items.iter().map(|i| i.len() + 1).sum::<usize>() + 1);
    push_list(&mut out, items.iter(), |out, item| out.push_str(item));
    out
}

/// An object whose values are JSON already.
pub(crate) fn json_of_pairs(pairs: &[(&str, String)]) -> String {
    let mut out = String::with_capacity(pairs.iter().map(|(k, v)| k.len() + v.len() + 4).sum::<usize>() + 1);
    push_object(&mut out, |members| {
        for (key, value) in pairs {
            members.push_escaped_key(key).push_str(value);
        }
    });
    out
}
