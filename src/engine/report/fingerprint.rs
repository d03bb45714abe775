//! The identity of a finding from run to run: rule, object, and the path with list items by their names. Lines, texts
//! and indexes are not part of it, so it survives moved lines, new wording and reordered lists.

use crate::json::values::{List, Pairs};
use crate::text::token;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Which object a finding is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectName {
    /// Namespace; null for kinds without one.
    pub namespace: Option<String>,
    /// `apiVersion`.
    pub api_version: String,
    /// `kind`.
    pub kind: String,
    /// `metadata.name`; null if the objects are known by `generateName`.
    pub name: Option<String>,
    /// `metadata.generateName` of objects without an owner; null for all others.
    pub generate_name: Option<String>,
}

impl ObjectName {
    /// API group; empty for the core group.
    #[must_use]
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// The name as people read it.
    #[must_use]
    pub fn shown(&self) -> String {
        match (&self.name, &self.generate_name) {
            (Some(name), _) => name.clone(),
            (None, Some(prefix)) => format!("{prefix}*"),
            (None, None) => "(no name)".to_owned(),
        }
    }
}

/// A finding without its words and its place in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Fingerprint {
    /// Id of the rule.
    pub rule: String,
    /// The object: for a pod, its top owner.
    pub object: ObjectName,
    /// Path in the pod, the pod template or the object, with list items by name: `/spec/containers/name=trainer/image`.
    pub path: String,
}

/// Deepest path that is named.
const MAX_DEPTH: usize = 32;

/// A JSON pointer with list items by their names. An item without a name is `*`: its index says nothing.
#[must_use]
pub fn named_path(json: &str, pointer: &str) -> String {
    let mut named = String::new();
    let mut at = Some(json);
    for step in pointer.split('/').skip(1).take(MAX_DEPTH) {
        named.push('/');
        let value = at.unwrap_or_default().trim_start();
        if value.starts_with('[') || at.is_none() && step.parse::<usize>().is_ok() {
            at = item(value, step);
            match at.and_then(name) {
                Some(name) => named.push_str(&format!("name={}", token(&name))),
                None => named.push('*'),
            }
        } else {
            at = member(value, step);
            named.push_str(step);
        }
    }
    named
}

fn item<'a>(list: &'a str, index: &str) -> Option<&'a str> {
    let items: List<Option<&'a RawValue>> = serde_json::from_str(list).ok()?;
    Some((*items.get(index.parse::<usize>().ok()?)?)?.get())
}

fn member<'a>(map: &'a str, step: &str) -> Option<&'a str> {
    let members: Pairs<'a, Option<&'a RawValue>> = serde_json::from_str(map).ok()?;
    let key = step.replace("~1", "/").replace("~0", "~");
    Some((*members.get(&key)?)?.get())
}

fn name(object: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        name: Option<String>,
    }
    serde_json::from_str::<Named>(object).ok()?.name.filter(|name| !name.is_empty())
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
            assert_eq!(named_path(POD, pointer), expected, "{pointer}");
        }
    }

    #[test]
    fn other_orders_give_the_same_path() {
        let moved = r#"{"spec":{"containers":[{"name":"b/c","env":[{"name":"W"},{"name":"X"}]}]}}"#;
        assert_eq!(
            named_path(moved, "/spec/containers/0/env/1/value"),
            named_path(POD, "/spec/containers/1/env/0/value")
        );
    }
}
