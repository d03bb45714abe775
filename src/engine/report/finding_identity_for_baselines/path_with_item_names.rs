//! Paths of findings with list items by their names. The text of an object is read once for all of its findings.

use crate::text::{json_pointer_token, parse_document_within_limit};
use serde_json::Value;

/// Deepest path that is named.
const MAX_DEPTH: usize = 32;

/// The paths of one object.
pub struct NamedPaths(Option<Value>);

impl NamedPaths {
    /// Reads the text of an object. In an object that is too long, no list item has a name.
    #[must_use]
    pub fn new(json: &str) -> Self {
        Self(parse_document_within_limit(json).ok())
    }

    /// A JSON pointer with list items by their names. An item without a name is `*`: its index says nothing.
    #[must_use]
    pub fn path_with_item_names(&self, pointer: &str) -> String {
        let mut named = String::new();
        let mut at = self.0.as_ref();
        for step in pointer.split('/').skip(1).take(MAX_DEPTH) {
            named.push('/');
            let is_item = at.map_or_else(|| step.parse::<usize>().is_ok(), Value::is_array);
            at = at.and_then(|value| value.pointer(&format!("/{step}")));
            let name = at.and_then(|item| item.get("name")).and_then(Value::as_str);
            match name.filter(|name| is_item && !name.is_empty()) {
                Some(name) => named.push_str(&format!("name={}", json_pointer_token(name))),
                None if is_item => named.push('*'),
                None => named.push_str(step),
            }
        }
        named
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POD: &str = r#"{"spec":{"containers":[{"name":"a"},{"name":"b/c","env":[{"name":"X","value":"1"}],"ports":[{"p":1}]}]}}"#;

    #[test]
    fn list_items_have_names_and_no_index() {
        for (pointer, expected) in [
            ("", ""),
            ("/spec/containers/0", "/spec/containers/name=a"),
            ("/spec/containers/1/env/0/value", "/spec/containers/name=b~1c/env/name=X/value"),
            ("/spec/containers/1/ports/0/p", "/spec/containers/name=b~1c/ports/*/p"),
            ("/metadata/annotations/x~1y", "/metadata/annotations/x~1y"),
            // The plan adds it.
            ("/spec/containers/1/env/7/value", "/spec/containers/name=b~1c/env/*/value"),
            ("/spec/volumes/3", "/spec/volumes/*"),
        ] {
            assert_eq!(NamedPaths::new(POD).path_with_item_names(pointer), expected, "{pointer}");
        }
    }

    #[test]
    fn other_orders_give_the_same_path() {
        let moved = r#"{"spec":{"containers":[{"name":"b/c","env":[{"name":"W"},{"name":"X"}]}]}}"#;
        assert_eq!(
            NamedPaths::new(moved).path_with_item_names("/spec/containers/0/env/1/value"),
            NamedPaths::new(POD).path_with_item_names("/spec/containers/1/env/0/value")
        );
    }

    #[test]
    fn items_of_an_unreadable_object_have_no_name() {
        assert_eq!(NamedPaths::new("").path_with_item_names("/spec/volumes/3/name"), "/spec/volumes/*/name");
    }
}
