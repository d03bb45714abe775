//! Which texts may hold a fact, by a search that costs a hundredth of reading them as YAML. A fact counts for documents
//! before it, so that every input is searched before the first decision.

use crate::facts::FactKind;
use crate::manifest::begins_with_line_break;
use std::collections::HashSet;

/// Words that are kinds of facts.
pub(super) struct FactKinds(HashSet<&'static [u8]>);

impl FactKinds {
    pub(super) fn new() -> Self {
        Self(FactKind::names().map(str::as_bytes).collect())
    }

    /// Whether a text may have an object of such a kind: the kind, or that of a list of it, is in it as a word, or could be
    /// hidden.
    pub(super) fn may_be_in(&self, text: &[u8]) -> bool {
        let mut words = text.split(|byte| !byte.is_ascii_alphanumeric());
        let is_kind = |word: &[u8]| self.0.contains(word.strip_suffix(b"List").unwrap_or(word));
        words.any(|word| word.first().is_some_and(u8::is_ascii_uppercase) && is_kind(word))
            || memchr::memchr3_iter(b'\\', b'!', b'%', text).any(|at| hides(text, at))
    }
}

/// Whether a character at this place may begin one of the ways to write a word so that its letters are not in the text:
/// `\x4e`, `\u004e`, a line break within a word, and base64 behind a tag.
fn hides(text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| text.get(before));
    match text.get(at..).unwrap_or_default() {
        [b'\\', b'x' | b'u' | b'U', ..] => true,
        [b'\\', rest @ ..] if begins_with_line_break(rest) => before.is_some_and(u8::is_ascii_alphanumeric),
        [b'!', b'!' | b'<', ..] => true,
        rest => rest.starts_with(b"%TAG"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::input::documents_to_objects::{ObjectSkippedOrUnread, objects_in};
    use crate::manifest::{DocumentOrError, read_documents_of_file};

    /// Whether the reader finds a Node in a text.
    fn has_node(text: &str) -> bool {
        read_documents_of_file("f", text.as_bytes()).iter().any(|item| match item {
            DocumentOrError::Document(document) => objects_in(document)
                .iter()
                .any(|found| matches!(found, ObjectSkippedOrUnread::Object(object) if object.kind == "Node")),
            DocumentOrError::Error(_) | DocumentOrError::Empty { .. } => false,
        })
    }

    #[test]
    fn every_way_to_write_a_kind_is_found() {
        let kinds = FactKinds::new();
        for text in [
            "kind: Node\n",
            "kind: \"Node\"\n",
            "kind:\n  Node\n",
            "a: &k Node\nkind: *k\n",
            "kind: |-\n  Node\n",
            "kind: \"\\x4eode\"\n",
            "kind: \"N\\u006fde\"\n",
            "kind: \"N\\U0000006fde\"\n",
            "kind: \"No\\\n  de\"\n",
            "kind: \"No\\\r\n  de\"\n",
            "kind: \"No\\\u{85}de\"\n",
            "kind: \"No\\\u{2028}de\"\n",
            "kind: \"No\\\u{2029}de\"\n",
            "kind: !!binary Tm9kZQ==\n",
            "kind: !<tag:yaml.org,2002:binary> Tm9kZQ==\n",
            "%TAG !y! tag:yaml.org,2002:\n---\nkind: !y!binary Tm9kZQ==\n",
            "{\"kind\":\"Node\"}",
            "{\"k\\u0069nd\":\"Node\"}",
            "{\"kind\":\"\\u004eode\"}",
            "kind: List\nitems: [{kind: Node}]\n",
            "apiVersion: v1\nkind: NodeList\nitems: [{metadata: {name: a}}]\n",
        ] {
            assert!(has_node(text) || text.starts_with('%'), "{text:?}");
            assert!(kinds.may_be_in(text.as_bytes()), "{text:?}");
        }
    }

    #[test]
    fn usual_workloads_have_none() {
        let kinds = FactKinds::new();
        for text in [
            "kind: Pod\nspec: {nodeSelector: {a: b}}\n",
            "kind: Job\nspec: {template: {spec: {volumes: [{configMap: {name: a}}]}}}\n",
            "args:\n- |\n  if [ ! -f x ]; then\n    echo 100% \\\n      --nodes 2\n  fi\n",
            "kind: NodePools\n",
        ] {
            assert!(!kinds.may_be_in(text.as_bytes()), "{text:?}");
        }
    }
}
