//! Placeholders of templates in the values of an object.

use crate::json::types_of_decoded_fields::Text;
use crate::nccl;
use crate::rules::finding::short_pointer;
use crate::text::json_pointer_token;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::cell::LazyCell;
use std::fmt::{self, Write};

/// A value with a placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placeholder {
    /// JSON pointer of the value, or of the innermost value around it whose pointer is not too long. If the placeholder is in a key, the pointer of the entry with this key.
    pub pointer: String,
    /// The placeholder as the file writes it.
    pub text: String,
}

/// The tools that replace a placeholder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Syntax {
    /// `{{ .Values.x }}` and `{{- … }}`.
    Helm,
    /// Any other `{{ x }}`.
    Mustache,
    /// `$X`, `<x>` and other words.
    Other,
}

impl Placeholder {
    /// The tool, as the syntax shows. Only Helm has fields with a leading dot, variables, trim marks and Helm's
    /// functions.
    #[must_use]
    pub fn syntax(&self) -> Syntax {
        let Some(inner) = self.text.strip_prefix("{{") else { return Syntax::Other };
        let inner = inner.trim_end_matches('}').trim();
        let field = |word: &str| word.starts_with(['.', '$', '-']) && word.len() > 1;
        let function = |word: &str| matches!(word, "include" | "template" | "default" | "quote" | "toYaml");
        match inner.split_whitespace().any(|word| field(word) || function(word)) {
            true => Syntax::Helm,
            false => Syntax::Mustache,
        }
    }
}

/// Maximum number of placeholders that are read from one object.
const MAX_PLACEHOLDERS: usize = 1_000;

/// Placeholders of an object, in its order. Texts that a shell, a program or another tool reads are left out: `$X` in a
/// script is not a placeholder.
#[must_use]
pub fn find_placeholders(json: &str) -> Vec<Placeholder> {
    let mut found = Vec::new();
    if !["$", "{{", "PLACEHOLDER", "|", "<"].iter().any(|sign| json.contains(sign)) {
        return found;
    }
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let walk = Walk { pointer: &mut String::new(), found: &mut found, is_name: false };
    if walk.deserialize(&mut deserializer).is_err() {
        found.clear();
    }
    found
}

/// Whether a text has a placeholder.
pub(super) fn has_placeholder(text: &str) -> bool {
    first_placeholder(text).is_some()
}

/// Searches a value without copying it, because most values are texts without a placeholder.
struct Walk<'w> {
    pointer: &'w mut String,
    found: &'w mut Vec<Placeholder>,
    /// Whether the value is the `name` of an object.
    is_name: bool,
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    /// Whether the value is the name of a variable that only the container's own program reads.
    type Value = bool;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E>(self, text: &str) -> Result<bool, E> {
        push_first_placeholder_of_text(text, self.pointer, self.found);
        Ok(self.is_name && nccl::find_variable(text).is_none())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<bool, A::Error> {
        let Self { pointer, found, .. } = self;
        let length = pointer.len();
        let mut index = 0_usize;
        loop {
            let _ = write!(pointer, "/{index}");
            let item = list.next_element_seed(Walk { pointer, found, is_name: false })?;
            pointer.truncate(length);
            if item.is_none() {
                return Ok(false);
            }
            index += 1;
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<bool, A::Error> {
        let Self { pointer, found, .. } = self;
        let length = pointer.len();
        let (mut is_foreign, mut of_value) = (false, 0..0);
        while let Some(key) = object.next_key::<Text<'_>>()? {
            if is_text_for_programs(&key, pointer) {
                object.next_value::<IgnoredAny>()?;
                continue;
            }
            pointer.push('/');
            pointer.push_str(&json_pointer_token(&key));
            push_first_placeholder_of_text(&key, pointer, found);
            let (before, is_name) = (found.len(), &*key == "name");
            is_foreign |= object.next_value_seed(Walk { pointer, found, is_name })?;
            if &*key == "value" {
                of_value = before..found.len();
            }
            pointer.truncate(length);
        }
        // The program that reads such a variable may expand it.
        if is_foreign {
            found.drain(of_value);
        }
        Ok(false)
    }

    fn visit_bool<E>(self, _: bool) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_i64<E>(self, _: i64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_u64<E>(self, _: u64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_f64<E>(self, _: f64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(false)
    }
}

fn push_first_placeholder_of_text(text: &str, pointer: &str, found: &mut Vec<Placeholder>) {
    if found.len() < MAX_PLACEHOLDERS
        && let Some(text) = first_placeholder(text)
    {
        found.push(Placeholder { pointer: short_pointer(pointer).to_owned(), text: text.to_owned() });
    }
}

/// Whether the value of a key is text for a shell, a program or another tool.
fn is_text_for_programs(key: &str, pointer: &str) -> bool {
    let script = ["command", "args", "data", "stringData", "binaryData", "script", "managedFields"];
    let annotation = pointer.ends_with("/annotations") && !is_annotation_we_or_multus_read(key);
    script.contains(&key) || annotation
}

/// Whether Multus or fabric-admission reads an annotation.
fn is_annotation_we_or_multus_read(key: &str) -> bool {
    key.starts_with("k8s.v1.cni.cncf.io/")
        || key.starts_with("v1.multus-cni.io/")
        || key.starts_with("fabric-admission.dev/")
}

/// The first placeholder of a text.
fn first_placeholder(text: &str) -> Option<&str> {
    // A text may open many placeholders and close none: where the last end is, is searched once.
    let (braces, brace) = (LazyCell::new(|| text.rfind("}}")), LazyCell::new(|| text.rfind('}')));
    let before = |end: Option<usize>, at: usize| end.is_some_and(|end| at < end);
    text.char_indices().find_map(|(at, c)| {
        let rest = text.get(at..)?;
        let length = match c {
            '$' if rest.starts_with("${") && !before(*brace, at) => None,
            '{' if rest.starts_with("{{") && !before(*braces, at) => None,
            '$' => dollar(rest),
            '{' => rest.strip_prefix("{{").and_then(|r| r.find("}}")).map(|end| end + 4),
            '|' => pipes(rest),
            '<' => angles(rest),
            'A'..='Z' if starts_word(text, at) => shouted(rest),
            _ => None,
        };
        rest.get(..length?)
    })
}

/// The length of `${NAME}` (with anything after the name) or of `$NAME`.
fn dollar(text: &str) -> Option<usize> {
    let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let begins = |t: &str| t.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if let Some(inner) = text.strip_prefix("${") {
        return begins(inner).then(|| inner.find('}'))?.map(|end| end + 3);
    }
    let rest = text.strip_prefix('$').filter(|t| begins(t))?;
    Some(1 + rest.find(|c| !name(c)).unwrap_or(rest.len()))
}

/// The length of `|version|`, as documentation writes a substitution.
fn pipes(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('|')?;
    let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let end = inner.find(|c| !name(c)).filter(|end| *end > 0)?;
    inner.get(end..)?.starts_with('|').then_some(end + 2)
}

/// The length of `<name>`, as documentation writes it.
fn angles(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('<').filter(|t| t.starts_with(|c: char| c.is_ascii_alphabetic()))?;
    let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
    let end = inner.find(|c| !name(c))?;
    inner.get(end..)?.starts_with('>').then_some(end + 2)
}

/// The length of a word in capitals that contains `PLACEHOLDER`.
fn shouted(text: &str) -> Option<usize> {
    let end = text.find(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'));
    let end = end.unwrap_or(text.len());
    text.get(..end)?.contains("PLACEHOLDER").then_some(end)
}

fn starts_word(text: &str, at: usize) -> bool {
    let before = text.get(..at).and_then(|t| t.chars().next_back());
    before.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_of_texts() {
        for (text, expected) in [
            ("$GPUS", Some("$GPUS")),
            ("a-${GPUS:-8}-b", Some("${GPUS:-8}")),
            ("{{ .Values.gpus }}", Some("{{ .Values.gpus }}")),
            ("PLACEHOLDER_NUM_GPU", Some("PLACEHOLDER_NUM_GPU")),
            ("NIC_PLACEHOLDER", Some("NIC_PLACEHOLDER")),
            ("nvcr.io/x:|version|", Some("|version|")),
            ("<NODE_NAME>", Some("<NODE_NAME>")),
            ("example.com/<image name>:1", Some("<image name>")),
            ("<", None),
            ("1 <2> 3", None),
            ("$(POD_IP)", None),
            ("$1", None),
            ("cost$", None),
            ("{a}", None),
            ("a|b", None),
            ("a || b", None),
            ("MYPLACEHOLDERS of x", Some("MYPLACEHOLDERS")),
            ("placeholder", None),
            ("a < b > c", None),
            ("{{ a ${b} {{", Some("${b}")),
            ("{{ a } {{ b }}", Some("{{ a } {{ b }}")),
            ("} ${b", None),
            ("<a <b>", Some("<b>")),
        ] {
            assert_eq!(first_placeholder(text), expected, "{text}");
        }
    }

    /// With a search to the end at each sign, these would take hours.
    #[test]
    fn signs_that_nothing_closes() {
        for sign in ["{{", "${a", "<a", "|a ", "<a a "] {
            assert_eq!(first_placeholder(&sign.repeat(2 << 20)), None, "{sign}");
        }
    }

    #[test]
    fn tools_that_replace_them() {
        for (text, expected) in [
            ("{{ .Values.gpus }}", Syntax::Helm),
            ("{{- .x -}}", Syntax::Helm),
            ("{{ $name }}", Syntax::Helm),
            ("{{ include \"a\" . }}", Syntax::Helm),
            ("{{gpus}}", Syntax::Mustache),
            ("{{ gpus | int }}", Syntax::Mustache),
            ("${GPUS}", Syntax::Other),
            ("<num>", Syntax::Other),
        ] {
            let placeholder = Placeholder { pointer: String::new(), text: text.to_owned() };
            assert_eq!(placeholder.syntax(), expected, "{text}");
        }
    }

    #[test]
    fn text_for_programs_is_left_out() {
        let json = r#"{"metadata":{"annotations":{"note":"$A","k8s.v1.cni.cncf.io/networks":"${N}"}},
            "spec":{"containers":[{"args":["$B"],"command":["$C"],"image":"$IMAGE",
            "env":[{"name":"MY_OWN","value":"$D"},{"value":"$D","name":"MY_OWN"},{"name":"NCCL_IB_HCA","value":"$HCA"}],
            "resources":{"limits":{"${R}":"1"}}}]},"data":{"x":"$E"}}"#;
        let found: Vec<(String, String)> =
            find_placeholders(json).into_iter().map(|p| (p.pointer, p.text)).collect();
        let expected = [
            ("/metadata/annotations/k8s.v1.cni.cncf.io~1networks", "${N}"),
            ("/spec/containers/0/image", "$IMAGE"),
            ("/spec/containers/0/env/2/value", "$HCA"),
            ("/spec/containers/0/resources/limits/${R}", "${R}"),
        ];
        assert_eq!(found, expected.map(|(p, t)| (p.to_owned(), t.to_owned())));
        assert_eq!(find_placeholders(r#"{"spec":{"args":["$B"]}}"#), []);
    }
}
