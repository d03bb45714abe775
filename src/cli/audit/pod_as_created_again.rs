//! A running pod as it would be created again: without its node, which the scheduler chose, and without its status.

use crate::json::types_of_decoded_fields::Pairs;
use serde_json::value::RawValue;
use std::borrow::Cow;

type Members<'a> = Pairs<'a, Option<&'a RawValue>>;

/// The pod's text without `spec.nodeName` and `status`; unchanged where it names no node, which has no status either, or
/// cannot be read.
pub(super) fn without_node_and_status_if_scheduled(json: &str) -> Cow<'_, str> {
    rebuilt(json).map_or(Cow::Borrowed(json), Cow::Owned)
}

fn rebuilt(json: &str) -> Option<String> {
    if !json.contains("\"nodeName\"") {
        return None;
    }
    let pod: Members<'_> = serde_json::from_str(json).ok()?;
    let mut out = String::with_capacity(json.len());
    out.push('{');
    for (key, value) in pod.iter().filter(|(key, _)| *key != "status") {
        let value = value.map_or("null", RawValue::get);
        match key {
            "spec" => {
                let spec: Members<'_> = serde_json::from_str(value).ok()?;
                let mut inner = String::with_capacity(value.len());
                inner.push('{');
                for (key, value) in spec.iter().filter(|(key, _)| *key != "nodeName") {
                    push_json_member(&mut inner, key, value.map_or("null", RawValue::get))?;
                }
                inner.push('}');
                push_json_member(&mut out, key, &inner)?;
            }
            _ => push_json_member(&mut out, key, value)?,
        }
    }
    out.push('}');
    Some(out)
}

fn push_json_member(out: &mut String, key: &str, value: &str) -> Option<()> {
    if !out.ends_with('{') || out.len() > 1 {
        out.push(',');
    }
    out.push_str(&serde_json::to_string(key).ok()?);
    out.push(':');
    out.push_str(value);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_and_status_are_left_out() {
        let pod = r#"{"kind":"Pod","metadata":null,"spec":{"nodeName":"n","containers":[{"a":{}}],"x":{}},"status":{"phase":"Running"}}"#;
        let again = r#"{"kind":"Pod","metadata":null,"spec":{"containers":[{"a":{}}],"x":{}}}"#;
        assert_eq!(without_node_and_status_if_scheduled(pod), again);
        assert_eq!(without_node_and_status_if_scheduled(again), again);
        assert_eq!(without_node_and_status_if_scheduled(r#"{"spec":"nodeName"#), r#"{"spec":"nodeName"#);
    }
}
