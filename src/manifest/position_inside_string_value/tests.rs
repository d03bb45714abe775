use crate::manifest::{Document, DocumentOrError, Part, Position, read_documents_of_file};

/// The place of the text's `@`, found by its line and column in the value at `/s`.
fn found(source: &str) -> Position {
    let Some(DocumentOrError::Document(document)) =
        read_documents_of_file("f", source.as_bytes()).into_iter().next()
    else {
        panic!("{source}")
    };
    let value: String = serde_json::from_str(document.json_at_pointer("/s").unwrap().get()).unwrap();
    let before = value.split('@').next().unwrap();
    let line = before.matches('\n').count() as u32 + 1;
    let column = before.rsplit('\n').next().unwrap().chars().count() as u32 + 1;
    within(&document, source.as_bytes(), "/s", (line, column))
}

fn within(document: &Document, source: &[u8], pointer: &str, spot: (u32, u32)) -> Position {
    let from = |line: u32| {
        let before = source.split_inclusive(|byte| *byte == b'\n').take(line as usize - 1);
        source.get(before.map(<[u8]>::len).sum::<usize>()..)
    };
    document.position_inside_string(from, Part::default(), pointer, spot)
}

fn expected(source: &str) -> Position {
    let before = source.split('@').next().unwrap();
    let line = before.matches('\n').count() as u32 + 1;
    Position { line, column: before.rsplit('\n').next().unwrap().chars().count() as u32 + 1 }
}

#[test]
fn every_style_is_followed() {
    for source in [
        "s: |\n  {\n    \"a\": @1\n  }\n",
        "# a comment\nb: 1\ns: |-  # why\n\n    {\"ä\": 1,\n     \"b\": @}\nc: 2\n",
        "s: |2\n    {@\n",
        "s: >\n  {\"a\":\n    1, @\n  }\n",
        "s: '{\"a\": ''x'', @}'\n",
        "s: \"{\\\"a\\\": \\u0041\\n, @}\"\n",
        "s: \"{\\\"a\\\": \\\n   1, @}\"\n",
        "s: (a) @ b\n",
        "s: &x !!str '{\n  \"a\": @}'\n",
        "\"s\" : '{@}'\n",
        "{\"s\": \"{\\\"a\\\": 1,\\n\\t@}\"}\n",
    ] {
        assert_eq!(found(source), expected(source), "{source:?}");
    }
}

#[test]
fn a_style_that_cannot_be_followed_gives_the_entry() {
    let alias = "a: &x '{@}'\ns: *x\n";
    assert_eq!(found(alias), Position { line: 2, column: 1 });
}

#[test]
fn the_end_is_the_last_character() {
    let source = "s: |\n  {\n   1\n\nt: 1\n";
    let Some(DocumentOrError::Document(document)) =
        read_documents_of_file("f", source.as_bytes()).into_iter().next()
    else {
        panic!()
    };
    let within = |file, pointer, line| within(&document, file, pointer, (line, 1));
    assert_eq!(within(source.as_bytes(), "/s", 9), Position { line: 3, column: 4 });
    assert_eq!(within(b"\xff", "/s", 1), Position { line: 1, column: 1 });
    assert_eq!(within(source.as_bytes(), "/t", 1), Position { line: 5, column: 1 });
}

#[test]
fn entries_far_into_a_line_are_not_followed() {
    let at = |before: usize| {
        let source = format!("{{\"a\":\"{}\",\"s\":\"{{@\"}}", "é".repeat(before));
        (found(&source), expected(&source))
    };
    let (followed, place) = at(4_000);
    assert_eq!(followed, place);
    let (entry, place) = at(5_000);
    assert_eq!((entry.line, entry.column + 6), (1, place.column));
}
