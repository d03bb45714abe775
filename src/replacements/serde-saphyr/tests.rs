#![allow(clippy::unwrap_used)]

use super::{from_multiple, from_slice};
use serde::Deserialize;

#[derive(Debug, PartialEq, Deserialize)]
struct Named {
    name: String,
}

#[test]
fn documents_are_read_in_order() {
    let names: Vec<Named> = from_multiple("name: a\n---\n---\nname: 'b'\n").unwrap();
    assert_eq!(names.iter().map(|n| n.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn an_empty_kubeconfig_has_no_document() {
    assert_eq!(from_multiple::<Named>("").unwrap(), []);
    assert_eq!(from_multiple::<Named>("# nothing yet\n").unwrap(), []);
}

#[test]
fn a_plugin_answers_in_json_or_yaml() {
    for text in ["{\"name\":\"a\"}\n", "name: a\n"] {
        assert_eq!(from_slice::<Named>(text.as_bytes()).unwrap().name, "a");
    }
    assert_eq!(from_slice::<Named>(b"").unwrap_err().to_string(), "no document");
}

#[test]
fn errors_name_a_line_of_the_text() {
    let wrong = from_multiple::<Named>("name: a\n---\nnames: b\n").unwrap_err().to_string();
    assert_eq!(wrong, "the document at line 3: missing field `name`");
    let broken = from_multiple::<Named>("name: [a\n").unwrap_err().to_string();
    assert!(broken.starts_with("line "), "{broken}");
}
