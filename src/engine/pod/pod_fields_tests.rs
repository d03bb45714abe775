//! Pods with values that do not fit, and odd ones that do.

use super::PodView;
use crate::json::decode_with_place::decode_object;

#[test]
fn names_the_place() {
    let error = decode_object::<PodView<'_>>(r#"{"spec":{"containers":[{"env":[{"name":"A","value":1}]}]}}"#)
        .unwrap_err();
    assert_eq!(error.pointer, "/spec/containers/0/env/0/value");
    assert_eq!(error.message, "invalid type: integer `1`, expected a string");
}

#[test]
fn a_list_is_not_a_mapping() {
    for (json, pointer) in [
        (r#"{"spec":[]}"#, "/spec"),
        (r#"{"spec":{"containers":[[]]}}"#, "/spec/containers/0"),
        (r#"{"spec":{"containers":[{"securityContext":[true]}]}}"#, "/spec/containers/0/securityContext"),
    ] {
        let error = decode_object::<PodView<'_>>(json).unwrap_err();
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
        assert!(decode_object::<PodView<'_>>(json).is_ok(), "{json}");
    }
}
