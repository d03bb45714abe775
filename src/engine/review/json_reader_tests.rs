//! The reader of `json` beside serde_json: it reads what serde_json reads, and gives the same values, for reviews as well.

use super::admission_review::AdmissionReview;
use crate::json::decode_with_place::decode_object;
use crate::json::reader::read;
use crate::pod::PodView;
use proptest::prelude::*;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;
use serde_path_to_error::Segment;

/// Reads a text with both; `None` where the reader refuses it.
fn both<'de, T: Deserialize<'de> + std::fmt::Debug>(text: &'de str) -> Option<String> {
    let own = read::<T>(text).ok().map(|value| format!("{value:?}"));
    let known = serde_json::from_str::<T>(text).map(|value| format!("{value:?}")).ok();
    assert!(own.is_none() || own == known, "{text}: {own:?}, {known:?}");
    own
}

fn all(text: &str) {
    let known = serde_json::from_str::<IgnoredAny>(text).is_ok();
    assert_eq!(both::<IgnoredAny>(text).is_some(), known, "{text}");
    assert_eq!(both::<&RawValue>(text).is_some(), known, "{text}");
    // serde_json refuses numbers out of range and halves of characters only where it reads them.
    assert_eq!(both::<Value>(text).is_some(), serde_json::from_str::<Value>(text).is_ok(), "{text}");
    // Structs from lists are refused.
    both::<PodView<'_>>(text);
    both::<AdmissionReview<'_>>(text);
}

#[test]
fn a_pod_and_its_review_are_read() {
    let pod = r#"{"metadata":{"name":"a","labels":{"a":"b","q":"\"\u00e9"},"managedFields":[{"fieldsV1":{"f:a":{".":{}}}}]},
        "spec":{"containers":[{"name":"a","env":[{"name":"A","value":"1"},null],"command":["a\nb"],
        "resources":{"limits":{"cpu":1.5,"nvidia.com/gpu":8}},"securityContext":{"runAsUser":-1e0}}],
        "hostNetwork":false,"tolerations":[{"operator":"Exists","tolerationSeconds":300}],"unknown":[[],{},"\\",-0]}}"#;
    assert!(both::<PodView<'_>>(&pod.replace("-1e0", "1000")).is_some());
    assert!(both::<PodView<'_>>(pod).is_none());
    let review = format!(
        r#"{{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{{"uid":"a","object": {pod} }}}}"#
    );
    assert!(both::<AdmissionReview<'_>>(&review).is_some());
    assert!(both::<Value>(&review).is_some());
}

#[test]
fn texts_at_the_edge_of_json() {
    for text in [
        "",
        " ",
        "{",
        "}",
        "[",
        "[,]",
        "[1,]",
        "[1 2]",
        "{,}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{\"a\":1 \"b\":2}",
        "{a:1}",
        "{1:2}",
        "{\"a\":1]",
        "[1}",
        "[]]",
        "[] ",
        "\n[]\t\r",
        "[]\u{b}",
        "\u{a0}[]",
        "nul",
        "nulll",
        "null",
        "true",
        "truefalse",
        "-",
        "-0",
        "00",
        "01",
        "-01",
        "1.",
        "1.5",
        ".5",
        "1e",
        "1e5",
        "1E+5",
        "1e999",
        "+1",
        "0x1",
        "18446744073709551616",
        "1a",
        "\"",
        "\"\\\"",
        "\"\\",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\u00e9\"",
        "\"\\ud800\"",
        "\"\\ud83d\\ude00\"",
        "\"\n\"",
        "\"\u{1}\"",
        "{\"\n\":1}",
        "{\"\\n\":1}",
        "[\"\t\"]",
        "\"\u{7f}é\"",
        "[[]]",
        "[{}]",
        "{\"a\":{}}",
        "[ ]",
        "{ }",
        "[null,true,\"a\",1]",
        "{\"a\":1,\"a\":2}",
        "{\"metadata\":{},\"metadata\":{}}",
        "{\"metadata\":[]}",
        "{\"spec\":{\"containers\":{}}}",
        "{\"metadata\":{\"name\":null}}",
        "{\"metadata\":{\"name\":1}}",
        "{\"request\":[]}",
        "[\"a\",\"b\"]",
    ] {
        all(text);
    }
}

/// Much white space is read in blocks.
#[test]
fn texts_with_much_white_space_are_read() {
    for (length, space) in
        (0..200_usize).flat_map(|length| [' ', '\t', '\n', '\r', '\u{b}'].map(|space| (length, space)))
    {
        let mut spaces = " \n\t\r ".repeat(length.div_ceil(5));
        spaces.truncate(length);
        for spaces in
            [format!("{spaces}{space}"), format!("{space}{spaces}"), format!("{spaces}{space}{spaces}")]
        {
            all(&format!(
                "{{\"a\"{spaces}:{spaces}[1{spaces},{spaces}2],\"metadata\":{spaces}{{{spaces}}}{spaces}}}{spaces}"
            ));
            all(&format!("{spaces}[\"a{spaces}\",{spaces}]"));
        }
    }
}

#[test]
fn deep_texts_are_read() {
    for depth in [60, 61, 62, 63, 64, 65, 100, 125, 126] {
        all(&format!("[{}{} ,1]", "[".repeat(depth), "]".repeat(depth)));
        all(&format!("{{\"a\":{}{}}}", "[{\"b\":".repeat(depth / 2), "1}]".repeat(depth / 2)));
        all(&format!("{{\"a\":{}1{}}}", "[{\"b\":".repeat(depth / 2), "]}".repeat(depth / 2)));
        all(&format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
        all(&format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth)));
    }
    for depth in [127, 128, 200_000] {
        let lists = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read::<IgnoredAny>(&lists).is_ok());
        assert_eq!(read::<Value>(&lists).is_ok(), serde_json::from_str::<Value>(&lists).is_ok());
    }
}

/// JSON texts, of which a part is not JSON any more: a character is removed, doubled or replaced.
fn texts() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[ -~é\n\"\\\\]{0,12}".prop_map(Value::from),
    ];
    let keys = prop_oneof![
        3 => proptest::sample::select(vec![
            "metadata", "spec", "containers", "name", "env", "value", "annotations", "resources", "limits", "request", "object",
            "kind", "uid", "command", "securityContext", "privileged",
        ]).prop_map(str::to_owned),
        1 => "[a-z\"\n]{0,4}",
    ];
    let values = leaf.prop_recursive(6, 48, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec((keys.clone(), inner), 0..5)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    });
    (values, any::<bool>(), any::<u8>(), any::<prop::sample::Index>(), "[ -~\n]").prop_map(
        |(value, pretty, how, place, other)| {
            let text = if pretty { format!("{value:#}") } else { value.to_string() };
            let mut chars: Vec<char> = text.chars().collect();
            let at = place.index(chars.len());
            match how % 4 {
                0 => drop(chars.remove(at)),
                1 => chars.insert(at, chars[at]),
                2 => chars[at] = other.chars().next().unwrap(),
                _ => {}
            }
            chars.into_iter().collect()
        },
    )
}

/// The places and messages of serde_path_to_error and serde_json, for texts that are JSON.
fn same_errors<'de, T: Deserialize<'de>>(text: &'de str) {
    let known = serde_path_to_error::deserialize::<_, T>(&mut serde_json::Deserializer::from_str(text));
    let (Err(known), Err(own)) = (known, decode_object::<T>(text)) else { return };
    let mut pointer = String::new();
    for segment in known.path() {
        pointer.push_str(&match segment {
            Segment::Map { key } => format!("/{}", crate::text::json_pointer_token(key)),
            Segment::Seq { index } => format!("/{index}"),
            _ => String::new(),
        });
    }
    let message = known.into_inner().to_string();
    let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(head, _)| head);
    // Our own words begin where serde names a type, or the names that it knows.
    let message = message.split("expected").next().unwrap_or_default();
    let message = if message.starts_with("unknown ") { "unknown " } else { message };
    // A list in place of a struct is refused at the list. serde_json takes it, and finds its own fault within the list or
    // later in the text.
    if own.message.starts_with("invalid type: sequence, expected a mapping") {
        return;
    }
    assert_eq!(
        (own.pointer.as_str(), own.message.get(..message.len())),
        (pointer.as_str(), Some(message)),
        "{text}"
    );
}

#[test]
fn errors_name_the_place() {
    for (text, pointer, message) in [
        (
            r#"{"spec":{"containers":[{},{"name":7}]}}"#,
            "/spec/containers/1/name",
            "invalid type: integer `7`, expected a string",
        ),
        (
            r#"{"metadata":{"labels":{"a/b~c":{}}}}"#,
            "/metadata/labels/a~1b~0c",
            "invalid type: map, expected a string",
        ),
        (r#"{"spec":{"containers":{}}}"#, "/spec/containers", "invalid type: map, expected a list"),
        (
            r#"{"spec":{"hostNetwork":"true at line 3"}}"#,
            "/spec/hostNetwork",
            "invalid type: string \"true at line 3\", expected true or false",
        ),
        (r#"{"spec":[]}"#, "/spec", "invalid type: sequence, expected a mapping"),
        (r#"{"spec":{"a" 1}}"#, "/spec/a", "expected `:`"),
        (r#"[]"#, "", "invalid type: sequence, expected a mapping"),
    ] {
        let error = decode_object::<PodView<'_>>(text).unwrap_err();
        assert_eq!((error.pointer.as_str(), error.message.as_str()), (pointer, message), "{text}");
    }
}

proptest! {
    #[test]
    fn its_errors_are_those_of_serde_json(text in texts()) {
        if serde_json::from_str::<Value>(&text).is_ok() {
            same_errors::<PodView<'_>>(&text);
            same_errors::<AdmissionReview<'_>>(&text);
            same_errors::<crate::profile::schema::FabricProfile>(&text);
        }
    }

    #[test]
    fn it_reads_what_serde_json_reads(text in texts()) {
        all(&text);
    }
}
