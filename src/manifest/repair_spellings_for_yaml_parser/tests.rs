use super::super::read_documents::tests::json;

#[test]
fn spellings_that_only_kubectl_reads() {
    assert_eq!(json(r#"a: "it\'s \\ 'x'""#), [r#"{"a":"it's \\ 'x'"}"#]);
    assert_eq!(json("a: \"x\\'\"\nb: 'y\\'\nc: z\\'z\n"), [r#"{"a":"x'","b":"y\\","c":"z\\'z"}"#]);
    assert_eq!(json("a: {b:}\nc: [d:,e:]\n"), [r#"{"a":{"b:":null},"c":["d:","e:"]}"#]);
    assert_eq!(json("a: {b:[1]}\n"), ["error 1:7"]);
}

#[test]
fn any_number_of_colons() {
    let names: Vec<String> = (0..2_000).map(|i| format!("q{i}:")).collect();
    let expected = serde_json::to_string(&names).unwrap();
    assert_eq!(json(format!("a: [{}]\n", names.join(","))), [format!(r#"{{"a":{expected}}}"#)]);
}

#[test]
fn other_colons_are_read_as_before() {
    assert_eq!(
        json("a: {b:, \"c\":, 'd e':, \"f:,\": [g:,h:], i :,k: l}\n# x:,y\nm: n:,o\n"),
        [r#"{"a":{"b:":null,"c":null,"d e":null,"f:,":["g:","h:"],"i :":null,"k":"l"},"m":"n:,o"}"#]
    );
    assert_eq!(
        json("a: &x b\nc: {d:, *x :, e: !!str f:}\n"),
        [r#"{"a":"b","c":{"d:":null,"b":null,"e":"f:"}}"#]
    );
    assert_eq!(json("a: |\n  {b:,c:}\nd: [e:]\nf: \"g:,\"\n"), [r#"{"a":"{b:,c:}\n","d":["e:"],"f":"g:,"}"#]);
}

#[test]
fn columns_stay() {
    assert_eq!(json("a: \"\\'\\'\": b\n"), ["error 1:10"]);
}
