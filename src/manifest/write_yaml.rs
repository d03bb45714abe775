//! JSON to block-style YAML.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::string_style::{self, StringStyle};
use super::write_flow_yaml::write_flow;
use super::write_quoted_string::{LONGEST_KEY, write_quoted};

/// Column from which values are written on one line. The indentation of a line may be a hundred times as long as its text,
/// and YAML aliases repeat a text many times. Values of pods stand before column 30.
const FIRST_FLOW_COLUMN: usize = 48;

/// How many times as long as a text the indentation of its lines may be, apart from a few bytes, if the text is written in lines of
/// its own. YAML aliases repeat a text of short lines many times.
const MOST_TIMES_INDENTATION: usize = 4;
/// These bytes.
const FREE_INDENTATION: usize = 64;

/// A collection that is being written.
enum Frame<'v> {
    Mapping(serde_json::map::Iter<'v>),
    Sequence(std::slice::Iter<'v, Value>),
}

/// The text before the next entry.
#[derive(Clone, Copy, PartialEq)]
enum Lead {
    /// The start of a line.
    Line,
    /// The dash of a list item; its first entry follows on the same line.
    Dash,
}

/// JSON as block-style YAML text, without a leading `---`. Values from column 48 on are in flow style.
///
/// kubectl and [`super::read_documents_of_file`] read it back to the same JSON: strings are plain if no YAML reader could take them for
/// anything else, in literal blocks if they have several lines, and otherwise in double quotes. Keys keep their
/// order; lists start at the column of their key, as kubectl writes them.
#[must_use]
pub fn to_yaml(json: &Value) -> String {
    let mut out = String::new();
    // An explicit stack: a value may be nested more deeply than a thread's stack allows.
    let mut stack: Vec<(Frame<'_>, usize)> = Vec::new();
    let mut lead = Lead::Line;
    start(&mut out, json, 0, &mut stack);
    while let Some((frame, indent)) = stack.last_mut() {
        let indent = *indent;
        let entry = match frame {
            Frame::Mapping(entries) => entries.next().map(|(key, value)| (Some(key), value)),
            Frame::Sequence(items) => items.next().map(|item| (None, item)),
        };
        let Some((key, value)) = entry else {
            stack.pop();
            continue;
        };
        if lead == Lead::Line {
            push_spaces(&mut out, indent);
        }
        lead = Lead::Line;
        let is_block = indent < FIRST_FLOW_COLUMN;
        match key {
            Some(key) => {
                write_key(&mut out, key, indent);
                match value {
                    Value::Object(map) if is_block && !map.is_empty() => {
                        out.push('\n');
                        stack.push((Frame::Mapping(map.iter()), indent + 2));
                    }
                    Value::Array(items) if is_block && !items.is_empty() => {
                        out.push('\n');
                        stack.push((Frame::Sequence(items.iter()), indent));
                    }
                    _ => {
                        out.push(' ');
                        write_scalar(&mut out, value, indent);
                    }
                }
            }
            None => {
                out.push_str("- ");
                match value {
                    Value::Object(map) if is_block && !map.is_empty() => {
                        stack.push((Frame::Mapping(map.iter()), indent + 2));
                        lead = Lead::Dash;
                    }
                    Value::Array(items) if is_block && !items.is_empty() => {
                        stack.push((Frame::Sequence(items.iter()), indent + 2));
                        lead = Lead::Dash;
                    }
                    _ => write_scalar(&mut out, value, indent),
                }
            }
        }
    }
    out
}

fn start<'v>(out: &mut String, json: &'v Value, indent: usize, stack: &mut Vec<(Frame<'v>, usize)>) {
    match json {
        Value::Object(map) if !map.is_empty() => stack.push((Frame::Mapping(Map::iter(map)), indent)),
        Value::Array(items) if !items.is_empty() => stack.push((Frame::Sequence(items.iter()), indent)),
        // A block at the top has no parent to be indented against.
        Value::String(text) if string_style::style_of_value(text) == StringStyle::Literal => {
            write_quoted(out, text);
            out.push('\n');
        }
        _ => write_scalar(out, json, indent),
    }
}

fn push_spaces(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}

/// A key and its colon. YAML 1.1 reads `key:` on one line only up to 1024 characters; a longer one takes the
/// explicit form.
fn write_key(out: &mut String, key: &str, indent: usize) {
    let start = out.len();
    match string_style::style_of_key(key) {
        StringStyle::Plain => out.push_str(key),
        _ => write_quoted(out, key),
    }
    if out.len() - start > LONGEST_KEY {
        out.insert_str(start, "? ");
        out.push('\n');
        push_spaces(out, indent);
    }
    out.push(':');
}

/// A value on the line of its parent, and the end of this line. `indent` is the column of its parent.
fn write_scalar(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::String(text) => match string_style::style_of_value(text) {
            StringStyle::Plain => out.push_str(text),
            StringStyle::Literal
                if indent < FIRST_FLOW_COLUMN && !is_mostly_indentation(text, indent + 2) =>
            {
                return write_block(out, text, indent + 2);
            }
            StringStyle::Quoted | StringStyle::Literal => write_quoted(out, text),
        },
        // Writing to a String does not fail.
        Value::Number(number) => drop(write!(out, "{number}")),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Null => out.push_str("null"),
        Value::Array(_) | Value::Object(_) => write_flow(out, value),
    }
    out.push('\n');
}

/// Whether lines with this indentation are much longer than the text.
fn is_mostly_indentation(text: &str, indent: usize) -> bool {
    let lines = text.split('\n').filter(|line| !line.is_empty()).count();
    lines.saturating_mul(indent) > MOST_TIMES_INDENTATION * text.len() + FREE_INDENTATION
}

/// A literal block with this indentation.
fn write_block(out: &mut String, text: &str, indent: usize) {
    out.push('|');
    // Readers take the indentation from the first line with text, unless it is given.
    if text.starts_with([' ', '\t', '\n']) {
        out.push('2');
    }
    let body = text.trim_end_matches('\n');
    match text.len() - body.len() {
        0 => out.push('-'),
        1 => {}
        _ => out.push('+'),
    }
    out.push('\n');
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        if !line.is_empty() {
            push_spaces(out, indent);
            out.push_str(line);
        }
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn block_style() {
        let value = json!({
            "kind": "Pod",
            "empty": {}, "none": [], "null": null,
            "on": "off",
            "spec": {"list": [{"a": 1, "b": {"c": [1.5, "2"]}}, [1, [2]], "x"]},
            "text": "a\n  b\n",
            "lines": ["a\nb", "  a\n\n\n"],
        });
        let yaml = "kind: Pod\nempty: {}\nnone: []\n\"null\": null\n\"on\": \"off\"\nspec:\n  list:\n  - a: 1\n    \
                    b:\n      c:\n      - 1.5\n      - \"2\"\n  - - 1\n    - - 2\n  - x\ntext: |\n  a\n    \
                    b\nlines:\n- |-\n  a\n  b\n- |2+\n    a\n\n\n";
        assert_eq!(to_yaml(&value), yaml);
    }

    #[test]
    fn scalars_at_the_top() {
        assert_eq!(to_yaml(&json!({})), "{}\n");
        assert_eq!(to_yaml(&json!("a\nb")), "\"a\\nb\"\n");
        assert_eq!(to_yaml(&json!("\u{85}\u{0}\u{feff}é")), "\"\\x85\\x00\\ufeffé\"\n");
        assert_eq!(to_yaml(&json!("###[a]\u{e0041}")), "\"#\\x23\\x23[a]\\U000e0041\"\n");
    }

    #[test]
    fn long_keys_and_deep_values() {
        let key = "k".repeat(2000);
        assert_eq!(to_yaml(&json!({"a": {key.clone(): 1}})), format!("a:\n  ? {key}\n  : 1\n"));
        let mut deep = json!(1);
        for _ in 0..500 {
            deep = json!([deep]);
        }
        let (block, flow) = (FIRST_FLOW_COLUMN / 2 + 1, 500 - FIRST_FLOW_COLUMN / 2 - 1);
        let expected = format!("{}{}1{}\n", "- ".repeat(block), "[".repeat(flow), "]".repeat(flow));
        assert_eq!(to_yaml(&deep), expected);
    }

    #[test]
    fn lines_of_few_letters_are_on_one_line_where_they_are_many_times_indented() {
        for (line, depth, is_block) in [("a\n", 1, true), ("a\n", 9, false), ("echo a\n", 9, true)] {
            let mut deep = json!(line.repeat(100));
            for _ in 0..depth {
                deep = json!({"k": deep});
            }
            let (json, yaml) = (deep.to_string().len(), to_yaml(&deep));
            assert_eq!(yaml.contains('|'), is_block, "{line:?} {depth}");
            assert!(yaml.len() < 5 * json, "{line:?} {depth}");
        }
        assert_eq!(to_yaml(&json!({"k": {"k": {"k": {"k": "a\nb\n"}}}})).matches('|').count(), 1);
    }

    /// Far to the right, neither lists nor blocks of lines take more space than their text explains.
    #[test]
    fn values_far_to_the_right_are_on_one_line() {
        let mut deep = json!({"list": vec!["a"; 100], "lines": "a\n".repeat(100)});
        for _ in 0..45 {
            deep = json!({"k": deep});
        }
        let json = deep.to_string().len();
        let yaml = to_yaml(&deep);
        assert!(yaml.len() < 3 * json && yaml.contains(r#"{"k": {"list": ["a", "a""#), "{} {yaml}", json);
    }
}
