//! FAB901: number or boolean where the API expects text, or text where it expects a number or boolean.

use super::placeholder::has_placeholder;
use crate::rules::finding::{Finding, FindingsOfRule, Severity};
use crate::rules::rule_declaration::{MayBeIgnored, Rule, files};
use crate::text::escaped_and_cut;
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    id: "FAB901",
    severity: Severity::Error,
    files: files!(),
    waiver: MayBeIgnored::Api,
    of_files: true,
    ..Rule::DEFAULT
};

/// A value that was converted to the type of its field.
#[derive(Debug)]
pub struct ConvertedValue {
    /// JSON text of the converted value.
    pub json: String,
    /// The finding on the value as the file writes it.
    pub finding: Finding,
}

/// Converts a scalar to the type of its field. `message` is the decoder's message, `json` the value, `path` its JSON
/// pointer. `source` is the line of the file from the key or the value on. The fix repeats a value only as the file
/// writes it, because YAML reads 0644 as 420, and off as false. Returns `None` if no other type helps.
#[must_use]
pub fn convert_to_type_of_field(
    message: &str,
    json: &str,
    path: &str,
    source: &str,
) -> Option<ConvertedValue> {
    let (_, expected) = message.rsplit_once("expected ")?;
    let value: Value = serde_json::from_str(json).ok()?;
    let shown = escaped_and_cut(json, 60);
    let (json, is, fix) = match (&value, expected) {
        (Value::Number(_) | Value::Bool(_), "a string") => {
            let is = match value {
                Value::Bool(_) => format!("the boolean {json}, but must be a string"),
                _ => format!("the number {shown}, but must be a string"),
            };
            let fix = match word(source).filter(|_| matches!(value, Value::Bool(_))) {
                Some(word) => format!("Write \"{word}\", with the quotes."),
                None if source.contains(json) => format!("Write \"{json}\", with the quotes."),
                None => "Put the value in quotes.".to_owned(),
            };
            (Value::String(json.to_owned()).to_string(), is, fix)
        }
        (Value::String(text), "true or false") if matches!(text.as_str(), "true" | "false") => (
            text.clone(),
            format!("the text {shown}, but must be a boolean"),
            format!("Write {text} without quotes."),
        ),
        (Value::String(text), "a whole number") if text.parse::<i64>().is_ok() => (
            text.clone(),
            format!("the text {shown}, but must be a number"),
            format!("Write {text} without quotes."),
        ),
        (Value::String(text), "true or false" | "a whole number") if has_placeholder(text) => (
            "null".to_owned(),
            format!("the text {shown}"),
            "Render the file before you apply it.".to_owned(),
        ),
        _ => return None,
    };
    let name = field_and_index_in_words(path);
    let mut out = Vec::new();
    FindingsOfRule::new(RULE.id, RULE.severity, &mut out).add(
        path,
        format!("field `{name}` is {is}: the API server refuses the object"),
        fix,
    );
    Some(ConvertedValue { json, finding: out.pop()? })
}

/// The word that YAML reads as a boolean (https://yaml.org/type/bool.html). A key may come before the word.
fn word(source: &str) -> Option<&str> {
    let value = source.split_once(": ").map_or(source, |(_, value)| value).trim_start();
    let end = value.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(value.len());
    let word = value.get(..end)?;
    let known = ["y", "n", "yes", "no", "on", "off", "true", "false"];
    known.iter().any(|known| known.eq_ignore_ascii_case(word)).then_some(word)
}

/// The field of a value: its key, and the index in a list.
fn field_and_index_in_words(path: &str) -> String {
    let mut steps = path.rsplit('/').map(|step| step.replace("~1", "/").replace("~0", "~"));
    let (last, before) = (steps.next().unwrap_or_default(), steps.next().unwrap_or_default());
    let name = if last.parse::<usize>().is_ok() { format!("{before}[{last}]") } else { last };
    escaped_and_cut(&name, 80)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_get_the_type_of_their_field() {
        let text = "invalid type: integer `8`, expected a string";
        for (message, json, source, expected) in [
            (
                text,
                "8",
                "value: 8",
                Some((
                    "\"8\"",
                    "`value` is the number 8, but must be a string",
                    "Write \"8\", with the quotes.",
                )),
            ),
            (text, "420", "value: 0644", Some(("\"420\"", "the number 420", "Put the value in quotes."))),
            (
                text,
                "true",
                "value: on",
                Some(("\"true\"", "the boolean true", "Write \"on\", with the quotes.")),
            ),
            (
                text,
                "false",
                "off]",
                Some(("\"false\"", "the boolean false", "Write \"off\", with the quotes.")),
            ),
            (text, "true", "*anchor", Some(("\"true\"", "the boolean true", "Put the value in quotes."))),
            (text, "[8]", "", None),
            (
                "invalid type: string \"true\", expected true or false",
                "\"true\"",
                "",
                Some(("true", "the text \"true\", but must be a boolean", "Write true without quotes.")),
            ),
            ("invalid type: string \"yes\", expected true or false", "\"yes\"", "", None),
            ("invalid type: string \"x\", expected a mapping", "\"x\"", "", None),
        ] {
            let found = convert_to_type_of_field(message, json, "/env/0/value", source);
            match (found, expected) {
                (None, None) => {}
                (Some(found), Some((json, message, fix))) => {
                    assert_eq!((found.json.as_str(), found.finding.fix.as_str()), (json, fix));
                    assert!(found.finding.message.contains(message), "{}", found.finding.message);
                }
                (found, _) => panic!("{json}: {found:?}"),
            }
        }
    }
}
