//! The text of a profile: YAML in which each line names the object that it comes from, and the same as JSON.

use crate::text::{is_unprintable, without_commands_inside_lines};
use serde_json::{Map, Value};
use std::fmt::Write as _;

/// A value of a profile.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tree {
    Text(String),
    Number(u64),
    Map(Vec<YamlEntry>),
    List(Vec<Item>),
}

/// An entry of a mapping. `from` is empty where the entries below name their objects.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct YamlEntry {
    pub(super) key: String,
    pub(super) value: Tree,
    pub(super) from: String,
}

/// An item of a list.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Item {
    pub(super) value: Tree,
    pub(super) from: String,
}

pub(super) fn entry_with_source_comment(key: &str, value: Tree, from: impl Into<String>) -> YamlEntry {
    YamlEntry { key: key.to_owned(), value, from: from.into() }
}

impl Tree {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// The value without its origins.
    pub(super) fn json(&self) -> Value {
        match self {
            Self::Text(text) => Value::String(text.clone()),
            Self::Number(number) => Value::from(*number),
            Self::List(items) => Value::Array(items.iter().map(|item| item.value.json()).collect()),
            Self::Map(entries) => {
                Value::Object(entries.iter().map(|e| (e.key.clone(), e.value.json())).collect::<Map<_, _>>())
            }
        }
    }

    /// The origin of each value, by its JSON pointer.
    pub(super) fn collect_origins(&self, pointer: &str, into: &mut Vec<(String, String)>) {
        let mut add = |pointer: String, value: &Self, from: &str| {
            if !from.is_empty() {
                into.push((pointer.clone(), from.to_owned()));
            }
            value.collect_origins(&pointer, into);
        };
        match self {
            Self::Map(entries) => {
                for e in entries {
                    let key = e.key.replace('~', "~0").replace('/', "~1");
                    add(format!("{pointer}/{key}"), &e.value, &e.from);
                }
            }
            Self::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    add(format!("{pointer}/{at}"), &item.value, &item.from);
                }
            }
            Self::Text(_) | Self::Number(_) => {}
        }
    }

    /// Block-style YAML.
    pub(super) fn yaml(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, 0, false);
        out
    }

    /// `open` where the line already has the dash of a list item.
    fn write(&self, out: &mut String, indent: usize, mut open: bool) {
        let mut start = |out: &mut String| {
            if !std::mem::take(&mut open) {
                out.push_str(&" ".repeat(indent));
            }
        };
        match self {
            Self::Map(entries) => {
                for e in entries {
                    start(out);
                    let _ = write!(out, "{}:", scalar(&e.key));
                    e.value.write_line_and_children(out, &e.from, indent);
                }
            }
            Self::List(items) => {
                for item in items {
                    start(out);
                    out.push('-');
                    match &item.value {
                        Self::Map(_) => {
                            out.push(' ');
                            item.value.write(out, indent + 2, true);
                        }
                        value => value.write_line_and_children(out, &item.from, indent),
                    }
                }
            }
            Self::Text(_) | Self::Number(_) => {}
        }
    }

    /// The rest of a line behind a key or a dash, and the lines below it.
    fn write_line_and_children(&self, out: &mut String, from: &str, indent: usize) {
        match self {
            Self::Text(text) => {
                let _ = write!(out, " {}", scalar(text));
            }
            Self::Number(number) => {
                let _ = write!(out, " {number}");
            }
            Self::List(items) if items.is_empty() => out.push_str(" []"),
            _ => {}
        }
        if !from.is_empty() {
            let _ = write!(out, "  # {}", text_of_comment(from));
        }
        out.push('\n');
        self.write(out, indent + 2, false);
    }
}

/// A text in YAML: plain where no reader takes it for anything else.
fn scalar(text: &str) -> String {
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ',' | ' ' | '(' | ')');
    let word = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(plain)
        && !text.ends_with(' ');
    let reserved = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    if word && !reserved.contains(&text.to_ascii_lowercase().as_str()) {
        text.to_owned()
    } else {
        let quoted = Value::String(text.to_owned()).to_string();
        let mut out = String::with_capacity(quoted.len());
        for c in without_commands_inside_lines(&quoted, r"\u0023").chars() {
            match u32::from(c) {
                _ if !is_unprintable(c) => out.push(c),
                code @ ..=0xffff => drop(write!(out, "\\u{code:04x}")),
                code => drop(write!(out, "\\U{code:08x}")),
            }
        }
        out
    }
}

/// A text of the inputs for a comment in a log.
pub(super) fn text_of_comment(text: &str) -> String {
    without_commands_inside_lines(&text.replace(is_unprintable, " "), " #")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_objects_are_no_commands_of_runners() {
        let texts = ["##vso[a]", "a ##[error]b", "\u{202e}\u{e0001}\u{7f}", "a#b##c"];
        let expected = [
            r##""#\u0023vso[a]""##,
            r##""a #\u0023[error]b""##,
            r##""\u202e\U000e0001\u007f""##,
            r###""a#b##c""###,
        ];
        assert_eq!(texts.map(scalar), expected);
        assert_eq!(text_of_comment("##teamcity[a]\u{202e}b\nc"), "# #teamcity[a] b c");
    }
}
