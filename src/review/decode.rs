//! Decoding with a place: where a value does not fit, the error says which, as a JSON pointer.

use crate::text::{nearest, token};
use serde::Deserialize;
use serde_path_to_error::Segment;

/// A value of another type than its field has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{pointer}: {message}")]
pub struct DecodeError {
    /// JSON pointer of the value, relative to the object.
    pub pointer: String,
    /// What was found and what was expected.
    pub message: String,
}

/// Decodes an object. The path of a misfit is worked out in a second pass, so that the good case pays
/// nothing for it.
///
/// # Errors
/// [`DecodeError`] with the place of the first value that does not fit.
pub fn object<'de, T: Deserialize<'de>>(json: &'de str) -> Result<T, DecodeError> {
    serde_json::from_str(json).or_else(|first| {
        let mut deserializer = serde_json::Deserializer::from_str(json);
        serde_path_to_error::deserialize::<_, T>(&mut deserializer).map_err(|error| {
            let mut pointer = String::new();
            for segment in error.path() {
                match segment {
                    Segment::Map { key } => {
                        pointer.push('/');
                        pointer.push_str(&token(key));
                    }
                    Segment::Seq { index } => pointer.push_str(&format!("/{index}")),
                    Segment::Enum { .. } | Segment::Unknown => {}
                }
            }
            DecodeError { pointer, message: without_position(&first.to_string()) }
        })
    })
}

/// serde_json ends its messages with a position in the JSON text, which is not the user's text, and names the
/// types of ours that it could not fill.
fn without_position(message: &str) -> String {
    let cut = message.rfind(" at line ").unwrap_or(message.len());
    let message = message.get(..cut).unwrap_or(message);
    if let Some(message) = not_one_of(message) {
        return message;
    }
    let Some((head, expected)) = message.split_once("expected ") else { return message.to_owned() };
    let expected = match expected {
        e if e.starts_with("struct ") || e == "a map" => "a mapping",
        "i32" | "i64" | "u32" | "u64" => "a whole number",
        "a sequence" => "a list",
        "a boolean" => "true or false",
        other => other,
    };
    format!("{head}expected {expected}")
}

/// A field or a value outside a closed list, with the one that was probably meant. serde says: unknown field `a`,
/// expected one of `b`, `c`.
fn not_one_of(message: &str) -> Option<String> {
    let (kind, rest) = [("unknown field `", "field"), ("unknown variant `", "value")]
        .into_iter()
        .find_map(|(start, kind)| Some((kind, message.strip_prefix(start)?)))?;
    // The name is the user's and may hold anything; the list is ours and holds no backtick.
    let (name, list) = rest.rsplit_once("`, expected ").or_else(|| rest.rsplit_once("`, there are no "))?;
    let known = || list.split('`').skip(1).step_by(2);
    let shown = crate::text::printable(name, 64);
    let hint = match nearest(name, known()) {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("expected one of: {}", known().collect::<Vec<_>>().join(", ")),
    };
    Some(format!("unknown {kind} \"{shown}\"; {hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::PodView;

    #[test]
    fn names_the_place() {
        let error = object::<PodView<'_>>(r#"{"spec":{"containers":[{"env":[{"name":"A","value":1}]}]}}"#)
            .unwrap_err();
        assert_eq!(error.pointer, "/spec/containers/0/env/0/value");
        assert_eq!(error.message, "invalid type: integer `1`, expected a string");
    }

    /// Every struct of a profile, at every depth, and every enum.
    #[test]
    fn a_misspelt_field_or_value_of_a_profile_has_its_place_and_a_suggestion() {
        for (spec, pointer, message) in [
            (
                r#""nodeselector":{}"#,
                "/nodeselector",
                r#"unknown field "nodeselector"; did you mean "nodeSelector"?"#,
            ),
            (
                r#""rails":[{"network":"a/b"},{"network":"a/b","interfaces":"rail0"}]"#,
                "/rails/1/interfaces",
                r#"unknown field "interfaces"; did you mean "interface"?"#,
            ),
            (
                r#""subsets":[{"nmae":"a"}]"#,
                "/subsets/0/nmae",
                r#"unknown field "nmae"; did you mean "name"?"#,
            ),
            (
                r#""placement":{"nodeaffinity":"none"}"#,
                "/placement/nodeaffinity",
                r#"unknown field "nodeaffinity"; did you mean "nodeAffinity"?"#,
            ),
            (
                r#""resources":[{"quantiy":1}]"#,
                "/resources/0/quantiy",
                r#"unknown field "quantiy"; did you mean "quantity"?"#,
            ),
            (
                r#""when":{"multinode":"any"}"#,
                "/when/multinode",
                r#"unknown field "multinode"; did you mean "multiNode"?"#,
            ),
            (r#""env":[{"vaule":"1"}]"#, "/env/0/vaule", r#"unknown field "vaule"; did you mean "value"?"#),
            (
                r#""sharedMemory":{"perAcelerator":"8Gi"}"#,
                "/sharedMemory/perAcelerator",
                r#"unknown field "perAcelerator"; did you mean "perAccelerator"?"#,
            ),
            (
                r#""when":{"podSelector":{"matchLabel":{}}}"#,
                "/when/podSelector/matchLabel",
                r#"unknown field "matchLabel"; did you mean "matchLabels"?"#,
            ),
            (
                r#""namespaces":{"matchExpressions":[{"key":"a","value":[]}]}"#,
                "/namespaces/matchExpressions/0/value",
                r#"unknown field "value"; did you mean "values"?"#,
            ),
            (r#""transport":"rocev2""#, "/transport", r#"unknown value "rocev2"; did you mean "roce"?"#),
            (r#""attachment":"srivo""#, "/attachment", r#"unknown value "srivo"; did you mean "sriov"?"#),
            (r#""inject":"fulll""#, "/inject", r#"unknown value "fulll"; did you mean "full"?"#),
            (r#""onMissing":"Deny""#, "/onMissing", r#"unknown value "Deny"; did you mean "deny"?"#),
            (
                r#""env":[{"name":"A","policy":"required"}]"#,
                "/env/0/policy",
                r#"unknown value "required"; did you mean "require"?"#,
            ),
            (
                r#""resources":[{"name":"a/b","quantity":1,"per":"accelerators"}]"#,
                "/resources/0/per",
                r#"unknown value "accelerators"; did you mean "accelerator"?"#,
            ),
            (
                r#""namespaces":{"matchExpressions":[{"key":"a","operator":"notin"}]}"#,
                "/namespaces/matchExpressions/0/operator",
                r#"unknown value "notin"; did you mean "NotIn"?"#,
            ),
            (
                r#""transport":"quantum""#,
                "/transport",
                r#"unknown value "quantum"; expected one of: roce, infiniband, ethernet, efa, tcpx, tcpxo"#,
            ),
            (
                r#""a`, expected `b":1"#,
                "/a`, expected `b",
                r#"unknown field "a`, expected `b"; expected one of: base"#,
            ),
        ] {
            let json =
                format!(r#"{{"apiVersion":"x","kind":"y","metadata":{{"name":"n"}},"spec":{{{spec}}}}}"#);
            let error = object::<crate::fabric::FabricProfile>(&json).unwrap_err();
            assert_eq!(error.pointer, format!("/spec{pointer}"), "{error}");
            assert!(error.message.starts_with(message), "{}", error.message);
        }
        for (json, pointer) in [
            (r#"{"apiversion":"x"}"#, "/apiversion"),
            (r#"{"metadata":{"name":"n","lables":{}}}"#, "/metadata/lables"),
        ] {
            let error = object::<crate::fabric::FabricProfile>(json).unwrap_err();
            assert_eq!(error.pointer, pointer, "{error}");
            assert!(error.message.contains("did you mean"), "{}", error.message);
        }
    }

    #[test]
    fn a_list_is_no_mapping() {
        for (json, pointer) in [
            (r#"{"spec":[]}"#, "/spec"),
            (r#"{"spec":{"containers":[[]]}}"#, "/spec/containers/0"),
            (r#"{"spec":{"containers":[{"securityContext":[true]}]}}"#, "/spec/containers/0/securityContext"),
        ] {
            let error = object::<PodView<'_>>(json).unwrap_err();
            assert_eq!(error.pointer, pointer, "{error}");
        }
    }

    #[test]
    fn odd_but_decodable_objects_decode() {
        for json in [
            "{}",
            r#"{"metadata":null,"spec":null}"#,
            r#"{"spec":{"containers":null,"volumes":[null]}}"#,
            r#"{"spec":{"containers":[null,{"securityContext":null,"env":null,"resources":{"limits":null}}]}}"#,
        ] {
            assert!(object::<PodView<'_>>(json).is_ok(), "{json}");
        }
    }
}
