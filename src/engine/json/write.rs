//! Pieces of JSON text, written without a tree of values.

use crate::text::{push_inner, push_json};
use std::fmt::{self, Write};

/// Writes an object.
pub(crate) fn push_object(out: &mut String, members: impl FnOnce(&mut Members<'_>)) {
    let mut writer = Members { out, before: '{' };
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
pub(crate) fn push_format(out: &mut String, text: fmt::Arguments<'_>) {
    out.push('"');
    // Writing into a String does not fail.
    let _ = Escaped(out).write_fmt(text);
    out.push('"');
}

/// The inside of a text.
struct Escaped<'o>(&'o mut String);

impl Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        push_inner(self.0, text);
        Ok(())
    }
}

/// Writes the members of an object.
pub(crate) struct Members<'o> {
    out: &'o mut String,
    /// What stands before the next member.
    before: char,
}

impl Members<'_> {
    /// Writes the key of a field, which has nothing to escape; its value follows.
    pub(crate) fn key(&mut self, key: &'static str) -> &mut String {
        self.out.push(self.before);
        self.before = ',';
        self.out.push('"');
        self.out.push_str(key);
        self.out.push_str("\":");
        self.out
    }

    /// Writes any key; its value follows.
    pub(crate) fn name(&mut self, name: &str) -> &mut String {
        self.out.push(self.before);
        self.before = ',';
        push_json(self.out, name);
        self.out.push(':');
        self.out
    }

    /// A member with a text.
    pub(crate) fn text(&mut self, key: &'static str, text: &str) {
        push_json(self.key(key), text);
    }

    /// A member with an object.
    pub(crate) fn object(&mut self, key: &'static str, members: impl FnOnce(&mut Members<'_>)) {
        push_object(self.key(key), members);
    }
}

/// A text.
pub(crate) fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_json(&mut out, text);
    out
}

/// A list of values that are JSON already.
pub(crate) fn array(items: &[String]) -> String {
    let mut out = String::with_capacity(items.iter().map(|i| i.len() + 1).sum::<usize>() + 1);
    push_list(&mut out, items.iter(), |out, item| out.push_str(item));
    out
}

/// An object whose values are JSON already.
pub(crate) fn object(pairs: &[(&str, String)]) -> String {
    let mut out = String::with_capacity(pairs.iter().map(|(k, v)| k.len() + v.len() + 4).sum::<usize>() + 1);
    push_object(&mut out, |members| {
        for (key, value) in pairs {
            members.name(key).push_str(value);
        }
    });
    out
}
