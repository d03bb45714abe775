//! Paths of findings with list items by their names, for an object with many findings: its text is read once.

use crate::report::fingerprint::named_path;
use crate::text::{token, tree};
use serde_json::Value;

/// The paths of one object.
pub struct NamedPaths(Option<Value>);

impl NamedPaths {
    /// Reads the text of an object. In an object that is too long, no list item has a name.
    #[must_use]
    pub fn new(json: &str) -> Self {
        Self(tree(json).ok())
    }

    /// The same as [`named_path`].
    #[must_use]
    pub fn name(&self, pointer: &str) -> String {
        let Some(root) = &self.0 else { return named_path("", pointer) };
        let mut named = String::new();
        let mut at = Some(root);
        for step in pointer.split('/').skip(1) {
            named.push('/');
            let is_item = at.map_or_else(|| step.parse::<usize>().is_ok(), Value::is_array);
            at = at.and_then(|value| value.pointer(&format!("/{step}")));
            let name = at.and_then(|item| item.get("name")).and_then(Value::as_str);
            match name.filter(|name| is_item && !name.is_empty()) {
                Some(name) => named.push_str(&format!("name={}", token(name))),
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

    #[test]
    fn paths_are_those_of_single_findings() {
        let pod =
            r#"{"spec":{"containers":[{"name":"a"},{"name":"b/c","env":[{"name":"X"}],"ports":[{"p":1}]}]}}"#;
        let paths = NamedPaths::new(pod);
        for pointer in [
            "",
            "/spec/containers/0",
            "/spec/containers/1/env/0/value",
            "/spec/containers/1/ports/0/p",
            "/metadata/annotations/x~1y",
            "/spec/containers/1/env/7/value",
            "/spec/volumes/3",
        ] {
            assert_eq!(paths.name(pointer), named_path(pod, pointer), "{pointer}");
        }
        assert_eq!(NamedPaths::new("").name("/spec/volumes/3"), "/spec/volumes/*");
    }
}
