use super::super::read_documents::tests::json;
use super::*;

#[test]
fn values_as_kubectl_reads_them() {
    for (text, value) in [
        ("1.0", "1"),
        ("1e3", "1000"),
        ("-0", "0"),
        ("-0.0", "-0"),
        ("12345678901234567890", "12345678901234567000"),
        ("9007199254740993", "9007199254740993"),
        ("1.5E-7", "1.5e-7"),
        (r#""\ud83d\ude00\ud800\/\u0041\t""#, "\"😀\u{fffd}/A\\t\""),
        (r#""\udc00x\ud83d\u0041""#, "\"\u{fffd}x\u{fffd}A\""),
        ("[ ]", "[]"),
        ("[true, false ,null]", "[true,false,null]"),
    ] {
        assert_eq!(json(format!("{{\"v\":{text}}}")), [format!("{{\"v\":{value}}}")]);
    }
    assert_eq!(json(r#"{"v":1e400}"#), ["error 1:6"]);
    let key = "k".repeat(2000);
    assert_eq!(json(format!("{{\t\"{key}\":1}}")), [format!("{{\"{key}\":1}}")]);
}

#[test]
fn faults() {
    let fault = |text: &str| {
        let fault = Reader::new(text, 0, Position { line: 1, column: 1 }).read_value().unwrap_err();
        (fault.at.line, fault.at.column, fault.message)
    };
    for (text, line, column, message) in [
        ("{\"a\":1,}", 1, 8, "found '}', expected a key in double quotes"),
        ("{\"a\"\n 1}", 2, 2, "found '1', expected `:` after the key"),
        ("{\"é\":[1 2]}", 1, 9, "found '2', expected `,` or `]` after the item"),
        ("{\"a\":tru}", 1, 6, "found 't', expected a JSON value"),
        ("{\"a\":01}", 1, 7, "found '1', expected `,` or `}` after the value"),
        ("{\"a\":1.}", 1, 8, "found '}', expected a digit after the decimal point"),
        ("{\"a\":\"b", 1, 6, "the string that starts here does not end"),
        ("{\"a\":\"b\n\"}", 1, 8, "found '\\n', expected `\"`, or the control character escaped"),
        ("{\"a\":\"\\q\"}", 1, 7, "unknown escape in a JSON string"),
        ("{\"a\":\"\\u12\"}", 1, 7, "`\\u` needs four hexadecimal digits"),
        ("{\"a\":", 1, 6, "the text ends, expected a JSON value"),
    ] {
        assert_eq!(fault(text), (line, column, message.to_owned()), "{text}");
    }
    assert_eq!(fault(&"[".repeat(100_000)).2, "nested more than 100 levels deep");
}
