use super::*;

fn fault(text: &str) -> (u32, u32, String) {
    let fault = parse(text, Position { line: 10, column: 1 }).unwrap_err();
    (fault.at.line, fault.at.column, fault.message)
}

#[test]
fn kubectl_may_read_long_keys() {
    let may_read = |before: &str, key: String, after: &str| {
        let text = format!("{before}\"{key}\": 1{after}");
        parse(&text, Position { line: 1, column: 1 }).unwrap_err().kubectl_may_read
    };
    for (before, after) in [
        ("{", "}"),
        ("[", "]"),
        ("[a, ", "]"),
        ("[{", "}]"),
        ("{a: [", "]}"),
        ("", "\nb: 1"),
        ("- ", "\n- b"),
    ] {
        assert!(may_read(before, "é".repeat(600), after), "{before}");
        assert!(!may_read(before, "e".repeat(1200), after), "{before}");
    }
    // A long value is not a key.
    let text = format!("{{\"words\": [\"{}\"], @}}", "é".repeat(600));
    assert!(!parse(&text, Position { line: 1, column: 1 }).unwrap_err().kubectl_may_read);
}

#[test]
fn kubectl_may_read_characters_in_tags() {
    let may_read = |text: &str| parse(text, Position { line: 1, column: 1 }).unwrap_err().kubectl_may_read;
    for text in ["a: !a,b c\n", "a: !a[b c\n", "é: !a]b c\n", "{a: !a]b c}\n", "{a: !!,b c}\n", "a: !, c\n"]
    {
        assert!(may_read(text), "{text}");
    }
    for text in ["a: !é\n", "a: !a{b c\n", "a: !<a c\n", "a: !a%zz c\n", "a: 'b' [\n"] {
        assert!(!may_read(text), "{text}");
    }
}

#[test]
fn faults_name_the_place_and_the_fix() {
    for (text, line, column, message) in [
        ("a: 1\nb: @c\n", 11, 4, "a plain value cannot start with '@': quote it"),
        (
            "a: b: c\n",
            10,
            5,
            "mapping values are not allowed in this context: check the indentation, and quote a value that \
             contains `: `",
        ),
        (
            "a: \"b\nc: d\n",
            10,
            4,
            "found unexpected end of stream while scanning a quoted scalar that starts here",
        ),
        (
            "a: 1\nb\nc: 2\n",
            11,
            1,
            "could not find expected ':' while scanning a simple key that starts here",
        ),
        ("é: [x\u{1}]", 10, 6, "control characters are not allowed (U+0001)"),
        ("a: *b\n", 10, 4, "the document does not define the anchor `&b` before this alias"),
        ("a: &a\n  b: *a\n", 11, 6, "the value of anchor `&a` contains itself"),
        ("a: !!int 1.5\n", 10, 4, "cannot read \"1.5\" as !!int: the value is !!float"),
        ("a: [x?y]\n", 10, 5, "a value with `?` inside [] or {} needs quotes"),
        ("a: \"x\\/y\"\n", 10, 4, "`\\/` is not an escape in YAML: write `/`"),
        ("%YAML 1.2\n---\na: 1\n", 10, 1, "kubectl reads YAML 1.1 only: remove the %YAML line"),
        (
            "a: [!x, 1]\n",
            10,
            4,
            "a YAML tag (`!…`) near here cannot be read: put a space between the tag and the comma",
        ),
    ] {
        assert_eq!(fault(text), (line, column, message.to_owned()), "{text}");
    }
}

#[test]
fn tag_directives_are_limited() {
    let directives = |count: usize, length: usize| {
        let one = |number| format!("%TAG !{number:02}! {}\r", "x".repeat(length - 10));
        let text: String = (0..count).map(one).chain(["---\ra: !00!b c\n".to_owned()]).collect();
        parse(&text, Position { line: 1, column: 1 }).map(|_| ()).map_err(|fault| fault.message)
    };
    assert_eq!(directives(64, 1024), Ok(()));
    assert_eq!(directives(65, 20), Err("a document has at most 64 directives `%TAG`".to_owned()));
    assert_eq!(directives(2, 1025), Err("a directive `%TAG` has at most 1024 bytes".to_owned()));
    // A text of a manifest, and not a directive.
    assert!(parse(&format!("a: '%TAG {}'", "x".repeat(2000)), Position { line: 1, column: 1 }).is_ok());
}

#[test]
fn nesting_is_limited() {
    let deep = |levels: usize| format!("a: {}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(parse(&deep(99), Position { line: 1, column: 1 }).is_ok());
    assert_eq!(fault(&deep(100)).2, "nested more than 100 levels deep");
}

#[test]
fn texts_that_made_the_parser_panic() {
    for text in ["a: |\n  b", "a: >\n  b", "a: \"\\", "a: \"\\x", "- |\n \n  x", "[!x,"] {
        let _ = parse(text, Position { line: 1, column: 1 });
    }
}
