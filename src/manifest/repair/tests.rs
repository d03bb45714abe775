use super::super::read::tests::json;

#[test]
fn spellings_that_only_kubectl_reads() {
    assert_eq!(json(r#"a: "it\'s \\ 'x'""#), [r#"{"a":"it's \\ 'x'"}"#]);
    assert_eq!(json("a: \"x\\'\"\nb: 'y\\'\nc: z\\'z\n"), [r#"{"a":"x'","b":"y\\","c":"z\\'z"}"#]);
    assert_eq!(json("a: {b:}\nc: [d:,e:]\n"), [r#"{"a":{"b:":null},"c":["d:","e:"]}"#]);
    assert_eq!(json("a: {b:[1]}\n"), ["error 1:7"]);
}

#[test]
fn columns_stay() {
    assert_eq!(json("a: \"\\'\\'\": b\n"), ["error 1:10"]);
}
