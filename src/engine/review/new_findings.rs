//! Only new findings of an update may deny: one set difference, for every kind.

use crate::json::decode::{self, DecodeError};
use crate::json::values::Pairs;
use crate::rules::{Finding, MAX_PER_RULE, Severity};
use crate::text::tree;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Removes from the decision the findings that the object had before, and judges it again by the rest. `known`: findings
/// of the old object, under the same Snapshot, ignored ones included.
pub(super) fn keep_new(findings: &mut Vec<Finding>, known: &[Finding], (new, old): (&str, &str)) {
    if known.is_empty() || findings.is_empty() {
        return;
    }
    let (new, old) = (Named::of(new), Named::of(old));
    let mut worst: BTreeMap<(&str, &str, String), Severity> = BTreeMap::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in known {
        let severity = worst
            .entry((finding.rule, &finding.message, old.path(&finding.path)))
            .or_insert(finding.severity);
        *severity = finding.severity.max(*severity);
        *counts.entry(finding.rule).or_default() += 1;
    }
    findings.retain(|f| {
        // The old list may be truncated, so absence proves nothing.
        let complete = counts.get(f.rule).is_none_or(|count| *count < MAX_PER_RULE);
        let before = worst.get(&(f.rule, f.message.as_str(), new.path(&f.path)));
        complete && before.is_none_or(|severity| *severity < f.severity)
    });
}

/// An object whose list elements are known by their names, since they move.
struct Named(Value);

impl Named {
    fn of(json: &str) -> Self {
        Self(tree(json).unwrap_or_default())
    }

    /// A JSON pointer with the names of list elements in place of their indexes, where they have any.
    fn path(&self, pointer: &str) -> String {
        let mut at = Some(&self.0);
        let mut path = String::new();
        for step in pointer.split('/').skip(1) {
            let element = match at {
                Some(Value::Array(list)) => step.parse::<usize>().ok().and_then(|index| list.get(index)),
                _ => None,
            };
            path.push('/');
            match element.and_then(name) {
                Some(name) => {
                    path.push('=');
                    path.push_str(name);
                }
                None => path.push_str(step),
            }
            let key = step.replace("~1", "/").replace("~0", "~");
            at = element.or_else(|| at?.get(&key));
        }
        path
    }
}

/// The name of a list element: lists of the API are maps by one of these keys, or hold texts.
fn name(element: &Value) -> Option<&str> {
    let keys = ["name", "groupName", "mountPath", "key", "resourceName"];
    element.as_str().or_else(|| keys.iter().find_map(|key| element.get(key)?.as_str()))
}

/// Whether there is anything to check: more than the metadata and status of the object changes. So the finalizers of an
/// object that is being deleted can be removed. A `deletionTimestamp` by itself switches no rule off: whoever may set
/// finalizers keeps an object that is being deleted, and everything reads its spec meanwhile.
///
/// # Errors
/// [`DecodeError`] when the object is not a mapping.
pub(super) fn changes(new: &str, old: Option<&str>) -> Result<bool, DecodeError> {
    let members: Members<'_> = decode::object(new)?;
    let Some(old) = old else { return Ok(true) };
    let before = serde_json::from_str::<Members<'_>>(old).ok();
    Ok(before.is_none_or(|before| !same(&members, &before)))
}

type Members<'a> = Pairs<'a, Option<&'a RawValue>>;

/// Whether two objects are equal except for metadata and status. The API server writes both in the same form.
fn same(new: &Members<'_>, old: &Members<'_>) -> bool {
    let text = |value: &Option<&RawValue>| value.map_or("null", RawValue::get).to_owned();
    let relevant = |members: &Members<'_>| -> BTreeMap<String, String> {
        let judged = members.iter().filter(|(key, _)| !matches!(*key, "metadata" | "status"));
        judged.map(|(key, value)| (key.to_owned(), text(value))).collect()
    };
    relevant(new) == relevant(old)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_go_by_their_names() {
        let named = Named::of(
            r#"{"spec":{"a/b":[{"x":1},{"name":"n","env":[{"name":"E","value":"1"}]}],"args":["-x","v"]}}"#,
        );
        for (pointer, expected) in [
            ("/spec/a~1b/1/env/0/value", "/spec/a~1b/=n/env/=E/value"),
            ("/spec/a~1b/0/x", "/spec/a~1b/0/x"),
            ("/spec/args/1", "/spec/args/=v"),
            ("/spec/gone/7/name", "/spec/gone/7/name"),
            ("", ""),
        ] {
            assert_eq!(named.path(pointer), expected);
        }
    }

    #[test]
    fn metadata_and_status_are_no_change() {
        let of = |spec: &str, rest: &str| format!(r#"{{"kind":"K","spec":{spec}{rest}}}"#);
        let old = of("{\"a\":1}", r#","metadata":{"labels":{}},"status":{"x":1}"#);
        for (new, expected) in [
            (of("{\"a\":1}", r#","metadata":{"name":"n"},"status":{}"#), false),
            (of("{\"a\":2}", r#","metadata":{"labels":{}}"#), true),
            (of("{\"a\":1}", r#","metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}"#), false),
            (of("{\"a\":2}", r#","metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}"#), true),
            (of("{\"a\":1}", r#","data":{}"#), true),
        ] {
            assert_eq!(changes(&new, Some(&old)), Ok(expected), "{new}");
            assert_eq!(changes(&new, None), Ok(true), "{new}");
        }
    }
}
