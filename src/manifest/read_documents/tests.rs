use super::super::{DuplicateKey, Part};
use super::*;

/// One line per item: the JSON, or the place of the error, or the reason.
pub(in super::super) fn json(text: impl AsRef<[u8]>) -> Vec<String> {
    let shown = |item| match item {
        DocumentOrError::Document(document) => document.json.get().to_owned(),
        DocumentOrError::Error(error) => format!("error {}:{}", error.line, error.column),
        DocumentOrError::Empty { reason, .. } => reason.to_owned(),
    };
    read_documents_of_file("f", text.as_ref()).into_iter().map(shown).collect()
}

fn document(text: &str) -> Document {
    match read_documents_of_file("f", text.as_bytes()).remove(0) {
        DocumentOrError::Document(document) => document,
        other => panic!("{other:?}"),
    }
}

#[test]
fn streams() {
    assert_eq!(json("a: 1\n---\n# c\n---\nb: 2"), [r#"{"a":1}"#, r#"{"b":2}"#]);
    assert_eq!(json("---\r\na: |\r\n  x\r\n  y\r\n"), [r#"{"a":"x\ny\n"}"#]);
    // kubectl takes away one carriage return of each line, so here is an escaped end of a line, or one end and not two.
    assert_eq!(json("kind: \"Po\\\r\r\nd\"\r\nb: c\r\n"), [r#"{"kind":"Pod","b":"c"}"#]);
    assert_eq!(json("a: \"b\r\r\nc\"\n"), [r#"{"a":"b c"}"#]);
    assert_eq!(
        json("a: b: c\n---\nd: 1\n--- x\ne: 1\n---\nf: 1"),
        ["error 1:5", r#"{"d":1}"#, "error 4:5", r#"{"f":1}"#]
    );
    assert_eq!(json("- a\n---\nb\n---\n~\n---\n[]\n"), ["error 1:1", "error 3:1", "error 7:1"]);
    assert_eq!(json("a: 1\n...\n# c\n"), [r#"{"a":1}"#]);
    assert_eq!(json("a: 1\n...\nb: 2\n"), [r#"{"a":1}"#, "error 2:1"]);
    assert_eq!(json("%YAML 1.1\n---\na: 1\n"), ["error 1:1", r#"{"a":1}"#]);
}

#[test]
fn merge_keys_by_their_tag() {
    for key in ["<<", "! <<", "! \"<<\"", "!<!> '<<'", "! \"\\x3c<\"", "!!merge \"<<\"", "? ! |-\n    <<\n  "]
    {
        assert_eq!(
            json(format!("a:\n  {key}: {{b: 1}}\n  c: ! 12\n")),
            [r#"{"a":{"b":1,"c":"12"}}"#],
            "{key}"
        );
    }
    for key in ["\"<<\"", "!!str <<", "!a <<", "!%21 <<"] {
        assert_eq!(json(format!("a: {{{key}: {{b: 1}}}}")), [r#"{"a":{"<<":{"b":1}}}"#], "{key}");
    }
    assert_eq!(json("a: [! <<, <<]\n"), [r#"{"a":["<<","<<"]}"#]);
}

#[test]
fn files_without_a_document() {
    assert_eq!(json(""), ["empty file"]);
    assert_eq!(json(" \n\n"), ["empty file"]);
    assert_eq!(json("# a\n---\n# b"), ["only comments"]);
    assert_eq!(json("null\n---\n~\n"), ["no document"]);
}

#[test]
fn encodings() {
    assert_eq!(json(b"\xff\xfea\0"), ["error 1:1"]);
    assert_eq!(json(b"a: 1\n---\nb: \xc3\xa9\xff\n---\nc: 1\n"), [r#"{"a":1}"#, "error 3:5", r#"{"c":1}"#]);
}

#[test]
fn documents_may_begin_with_any_character_of_utf8() {
    // The first byte of these is that of the byte order mark too.
    for c in ["\u{f000}", "\u{fb01}", "\u{ff4b}", "\u{fffd}"] {
        assert_eq!(
            json(format!("{c}: 1\n---\n\u{feff}{c}: 2\n")),
            [format!("{{\"{c}\":1}}"), format!("{{\"{c}\":2}}")]
        );
    }
}

#[test]
fn byte_order_marks_are_at_the_start_of_documents_only() {
    // Of files that `cat` has joined.
    assert_eq!(
        json("\u{feff}a: 1\n---\n\u{feff}b: 2\n---\n\u{feff}{\"c\":3}"),
        [r#"{"a":1}"#, r#"{"b":2}"#, r#"{"c":3}"#]
    );
    assert_eq!(
        json("\u{feff}{\"a\":\"\u{feff}\"}\n\u{feff}b: \"\\uFEFF\""),
        ["{\"a\":\"\u{feff}\"}", "{\"b\":\"\u{feff}\"}"]
    );
    for (text, line, column) in [
        ("a: [b,\n\u{feff}#c, {d: e}] #]\n", 2, 1),
        ("a: 1\n---\nb: 2\n---\n\u{feff}\u{feff}kind: Pod\nxkind: List\n", 5, 1),
        ("\u{feff}\u{feff}\u{feff}kind: Pod\nxkind: List\n", 1, 1),
        ("---\n\u{feff}kind: Pod\n", 2, 1),
        ("a: 1\n---\n---\n\u{feff}kind: Pod\n", 4, 1),
        ("kind: \"a\u{feff}\"", 1, 9),
        ("kind: a # \u{feff}", 1, 11),
        ("---\n{\"kind\": \"\u{feff}\"}", 2, 11),
        ("--- # \u{feff}\nkind: a", 1, 7),
    ] {
        let errors: Vec<_> = read_documents_of_file("f", text.as_bytes())
            .into_iter()
            .filter_map(|item| match item {
                DocumentOrError::Error(error) => Some(error),
                _ => None,
            })
            .collect();
        let [InputError { line: l, column: c, message, kubectl_may_read: true, .. }] = &errors[..] else {
            panic!("{text:?}: {errors:?}")
        };
        assert_eq!((*l, *c), (line, column), "{text:?}");
        assert!(message.contains("U+FEFF"), "{message}");
    }
}

#[test]
fn json_streams_have_a_limit() {
    let read = json("{}\n".repeat(MAX_VALUES));
    assert_eq!(read.len(), MAX_VALUES);
    let read = json("{}\n".repeat(MAX_VALUES + 1));
    assert_eq!((read.len(), read.last().map(String::as_str)), (MAX_VALUES + 1, Some("error 100001:1")));
}

#[test]
fn json_streams() {
    assert_eq!(json("{\"a\":1}\n {\"b\":2}{\"c\":3}"), [r#"{"a":1}"#, r#"{"b":2}"#, r#"{"c":3}"#]);
    assert_eq!(json("{\"a\":1}\n---\nb: 2\n---\n{\"c\":3}"), [r#"{"a":1}"#, r#"{"b":2}"#, r#"{"c":3}"#]);
    assert_eq!(json("{a: 1, b: {c: d}}"), [r#"{"a":1,"b":{"c":"d"}}"#]);
    assert_eq!(json("{\"a\":1,}"), [r#"{"a":1}"#]);
    assert_eq!(
        json("{\"a\":1}{\"b\":2}\n---\nc: 3\n"),
        [r#"{"a":1}"#, r#"{"b":2}"#, "error 2:2", r#"{"c":3}"#]
    );
    assert_eq!(json("{\"a\":1}\nnull\n[1]"), [r#"{"a":1}"#, "error 3:1"]);
    // Broken JSON that is valid YAML is read as YAML, by kubectl too.
    assert_eq!(json("{\"a\": [1, 2 3]}"), [r#"{"a":[1,"2 3"]}"#]);
    assert_eq!(json("{\"a\": [1, 2}}"), ["error 1:12"]);
}

#[test]
fn json_behind_a_separator_is_yaml_for_kubectl() {
    assert_eq!(json("---\n{\"a\":\"b\u{85}\u{85}c\"}"), [r#"{"a":"b\nc"}"#]);
    assert_eq!(json("{\"a\":\"b\u{85}\u{85}c\"}"), ["{\"a\":\"b\u{85}\u{85}c\"}"]);
    // Beyond the bytes in which kubectl looks for the brace, too.
    let blanks = "\n".repeat(JSON_PREFIX - 1);
    assert_eq!(json(format!("{blanks}{{\"a\":\"\u{85}\"}}")), ["{\"a\":\"\u{85}\"}"]);
    assert_eq!(json(format!("\n{blanks}{{\"a\":\"\u{85}\"}}")), [r#"{"a":" "}"#]);
    for text in [
        "---\n{\"a\":\"\\ud83d\\ude00\"}".to_owned(),
        "---\n\t{\"a\":1}".to_owned(),
        format!("---\n{{\"{}\":1}}", "k".repeat(2000)),
    ] {
        assert_eq!(json(&text).len(), 1);
        assert!(json(&text)[0].starts_with("error "), "{text}");
    }
    assert_eq!(json(" \t{a: 1}"), [r#"{"a":1}"#]);
}

#[test]
fn documents_do_not_begin_with_odd_white_space() {
    let odd = "\u{b}\u{c}\u{85}\u{a0}\u{1680}\u{2000}\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}";
    for c in odd.chars() {
        assert_eq!(json(format!("\n {c}{{\"kind\":\"Pod\",\"a\": 1}}")), ["error 2:2"], "{c:?}");
        assert_eq!(json(format!("{{\"a\":1}} {c}kind: Pod")), [r#"{"a":1}"#, "error 1:9"], "{c:?}");
        assert_eq!(json(format!("---\n{c}kind: Pod")), ["error 2:1"], "{c:?}");
    }
    let error = read_documents_of_file("f", "\u{a0}{}".as_bytes()).remove(0);
    let DocumentOrError::Error(error) = error else { panic!() };
    assert!(error.message.contains("U+00A0") && error.kubectl_may_read, "{error}");
    assert_eq!(json("# \u{a0}\nkind: \u{a0}Pod"), ["{\"kind\":\"\u{a0}Pod\"}"]);
}

#[test]
fn positions_and_ranges() {
    let text = "# c\nkind: Pod\nspec:\n  list:\n  - name: é\n    on: {x: 1}\n  - &a [1]\n  - *a\n";
    let document = document(text);
    assert_eq!((document.line, document.index, document.text.clone()), (2, 0, 0..text.len()));
    for (pointer, line, column) in [
        ("", 2, 1),
        ("/kind", 2, 1),
        ("/spec/list", 4, 3),
        ("/spec/list/0", 5, 5),
        ("/spec/list/0/name", 5, 5),
        ("/spec/list/0/true/x", 6, 10),
        ("/spec/list/0/true/none/deeper", 6, 5),
        ("/spec/list/1/0", 7, 9),
        ("/spec/list/2", 8, 5),
        ("/spec/list/2/0", 7, 9),
        ("/spec/list/7", 4, 3),
        ("/x", 2, 1),
    ] {
        assert_eq!(document.position_at_or_above_pointer(pointer), Position { line, column }, "{pointer}");
    }
    assert_eq!(document.json_at_pointer("/spec/list/0/true").unwrap().get(), r#"{"x":1}"#);
    assert!(document.json_at_pointer("/spec/list/3").is_none());
}

#[test]
fn positions_in_json() {
    let document = document("{\"é\": 1, \"b\": {\n\t\"c\": [true,\n null]}}");
    for (pointer, line, column) in
        [("", 1, 1), ("/b", 1, 10), ("/b/c", 2, 2), ("/b/c/0", 2, 8), ("/b/c/1", 3, 2)]
    {
        assert_eq!(document.position_at_or_above_pointer(pointer), Position { line, column }, "{pointer}");
    }
}

#[test]
fn repeated_keys() {
    for text in ["a:\n- b/c: 1\n  b/c: 2\n", "{\"a\":[\n  {\"b/c\":1,\n   \"b/c\":2}]}"] {
        let document = document(text);
        assert_eq!(document.json.get(), r#"{"a":[{"b/c":2}]}"#);
        let [twice @ DuplicateKey { mapping: 6, key, first, second }] = &document.warnings[..] else {
            panic!()
        };
        assert_eq!((key.as_str(), first.line, second.line), ("b/c", 2, 3));
        assert_eq!(
            document.repeated_keys_in(Part::default(), &(0..0), 1),
            (vec![("/a/0/b~1c".to_owned(), twice)], 1)
        );
    }
}

#[test]
fn repeated_keys_of_a_part() {
    let document = document("a:\n- b: 1\n  b: 2\n- c: {d: 1, d: 2, d: 3}\n  c: {d: 1, d: 2}\nb: 1\nb: 2\n");
    let of = |pointer| {
        let (keys, all) = document.repeated_keys_in(Part { start: 0, pointer }, &(0..0), 3);
        (keys.into_iter().map(|(pointer, _)| pointer).collect::<Vec<_>>().join(" "), all)
    };
    assert_eq!(of(""), ("/b /a/0/b /a/1/c".to_owned(), 4));
    assert_eq!(of("/a/0"), ("/b".to_owned(), 1));
    assert_eq!(of("/a/1"), ("/c /c/d".to_owned(), 2));
    assert_eq!(of("/b"), (String::new(), 0));
    let item = document.json.get().find("{\"b\"").unwrap();
    let (keys, all) = document.repeated_keys_in(Part::default(), &(item..item + 7), 9);
    let keys: Vec<String> = keys.into_iter().map(|(pointer, _)| pointer).collect();
    assert_eq!((keys.join(" ").as_str(), all), ("/b /a/1/c /a/1/c/d", 3));
    assert_eq!(of("/a/7"), of("/a"));
}

#[test]
fn places_in_parts() {
    let document = document("a:\n- b: 1\n- c: {d: 1}\n");
    let start = document.json.get().find("{\"c\"").unwrap();
    let place = |part, pointer| {
        let Position { line, column } = document.position_in_part_at_or_above(part, pointer);
        (line, column)
    };
    assert_eq!(place(Part { start, pointer: "" }, "/c/d"), (3, 7));
    assert_eq!(place(Part { start, pointer: "/c" }, "/d"), (3, 7));
    assert_eq!(place(Part { start, pointer: "/c" }, "/x"), (3, 3));
    assert_eq!(place(Part { start, pointer: "/x" }, "/c"), (3, 3));
    assert_eq!(place(Part { start: 0, pointer: "/a/1" }, ""), (3, 3));
}

#[test]
fn templates_that_parse_are_errors() {
    let DocumentOrError::Error(error) =
        read_documents_of_file("f", b"a: 1\nreplicas: {{ .Values.n }}\n").remove(0)
    else {
        panic!()
    };
    assert_eq!((error.line, error.column), (2, 11));
    assert!(error.message.starts_with("this looks like an unrendered Helm template"));
}
