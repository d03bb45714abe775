use super::super::read_documents::tests::json;

#[test]
fn keys_become_strings_as_in_kubectl() {
    for (text, key) in [
        ("1", "1"),
        ("0x10", "16"),
        ("yes", "true"),
        ("1.5", "1.5"),
        ("1e10", "1e+10"),
        (".inf", ".inf"),
        ("2001-01-01", "2001-01-01"),
        ("!!binary aGVsbG8=", "hello"),
        ("\"<<\"", "<<"),
    ] {
        assert_eq!(json(format!("{text}: a")), [format!("{{\"{key}\":\"a\"}}")]);
    }
    for text in ["~", "[a]", "{a: b}", "18446744073709551615"] {
        assert_eq!(json(format!("{text}: a")), ["error 1:1"], "{text}");
    }
    assert_eq!(json("a: &s 5\n*s : x\n"), [r#"{"a":5,"5":"x"}"#]);
}

#[test]
fn a_merge_overrides_the_entries_before_it() {
    assert_eq!(json("b: &b {a: 1}\nc: {a: 0, <<: *b}"), [r#"{"b":{"a":1},"c":{"a":1}}"#]);
    assert_eq!(json("b: &b {a: 1}\nc: {<<: *b, a: 0}"), [r#"{"b":{"a":1},"c":{"a":0}}"#]);
    assert_eq!(json("<<: {a: 1}\n<<: {a: 2, b: 1}"), [r#"{"a":2,"b":1}"#]);
    assert_eq!(
        json("p: &x {a: 1}\nq: &y {a: 2, b: 3}\nr: {<<: [*x, *y]}"),
        [r#"{"p":{"a":1},"q":{"a":2,"b":3},"r":{"a":1,"b":3}}"#]
    );
    assert_eq!(json("a: 1\n<<: 1"), ["error 2:5"]);
    assert_eq!(json("<<:"), ["error 1:4"]);
}

#[test]
fn many_keys_are_still_found_twice() {
    let text: String = (0..100).map(|i| format!("k{i}: 1\n")).collect();
    let items = super::super::read_documents_of_file("f", format!("{text}k50: 2\nk7: 3\n").as_bytes());
    let [super::super::DocumentOrError::Document(document)] = &items[..] else { panic!() };
    let keys: Vec<_> = document.warnings.iter().map(|warning| warning.key.as_str()).collect();
    assert_eq!(keys, ["k50", "k7"]);
    assert_eq!(document.json_at_pointer("/k7").unwrap().get(), "3");
}

#[test]
fn aliases_are_bounded() {
    let nine = |name: &str| [name; 9].join(",");
    let mut bomb = format!("a0: &a0 [{}]\n", nine("x"));
    for level in 1..9 {
        bomb += &format!("a{level}: &a{level} [{}]\n", nine(&format!("*a{}", level - 1)));
    }
    assert_eq!(json(bomb).len(), 1);
    let mut merges = "a0: &a0 {x: 1}\n".to_owned();
    for level in 1..40 {
        merges += &format!("a{level}: &a{level} {{<<: [*a{0}, *a{0}]}}\n", level - 1);
    }
    assert!(json(merges)[0].starts_with("error"));
    let long = format!("s: &s {}\nv: [{}]\n", "x".repeat(1 << 20), ["*s"; 100].join(","));
    assert!(json(long)[0].starts_with("error"));
}

#[test]
fn aliases_add_a_number_of_times_the_length_of_the_document() {
    let naming =
        |text: &str, times: usize| json(format!("s: &s \"{text}\"\nv: [{}]\n", vec!["*s"; times].join(",")));
    // A script that many pods of a job name.
    let script = "export A=1;".repeat(1400);
    assert_eq!(naming(&script, 60).len(), 1);
    assert!(!naming(&script, 60)[0].starts_with("error"));
    assert!(naming(&script, 100)[0].starts_with("error"));
    // What counts is the JSON: a control character takes six bytes of it.
    assert!(!naming(&"x".repeat(4000), 60)[0].starts_with("error"));
    assert!(naming(&"\\e".repeat(4000), 60)[0].starts_with("error"));
    let numbers = format!("n: &n [{}]\nv: [{}]\n", vec!["1.5"; 100].join(","), vec!["*n"; 900].join(","));
    assert!(json(numbers)[0].starts_with("error"));
}

/// A key that an alias names counts like a value: in one mapping it is kept as a repeated key each time, and in several
/// mappings it is written each time.
#[test]
fn keys_that_aliases_name_count() {
    let key = "k".repeat(4000);
    let in_one = |times: usize| json(format!("k: &k {key}\nv: {{{}}}\n", "*k : ,".repeat(times)));
    let in_many = |times: usize| json(format!("k: &k {key}\nv: [{}]\n", "{*k : },".repeat(times)));
    for named in [in_one(50), in_many(50)] {
        assert!(!named[0].starts_with("error"), "{}", named[0]);
    }
    for named in [in_one(100), in_many(100)] {
        assert!(named[0].starts_with("error"), "{}", named[0].len());
    }
}
