//! The reader against kubectl's own: `kubectl annotate --local` prints the object that it read.

use crate::support::round_trip::{documents, same};
use crate::support::suite::{Need, Suite};
use crate::support::{Scratch, names};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// The annotation that kubectl is asked to add.
const MARK: &str = "fabric-test";

/// Scalars that readers of YAML disagree about; each stands as a value, in a list, and as a key.
const SCALARS: &[&str] = &[
    "on",
    "off",
    "yes",
    "no",
    "y",
    "n",
    "True",
    "TRUE",
    "true",
    "~",
    "null",
    "Null",
    "NULL",
    "",
    "0",
    "-0",
    "0755",
    "0o755",
    "0x1F",
    "0b101",
    "1_000",
    "1e3",
    "1E3",
    "1.5e+3",
    "1.",
    ".5",
    "-.5",
    "+1",
    "1.0",
    "1.10",
    ".inf",
    "-.inf",
    ".nan",
    "1:30",
    "190:20:30",
    "2001-12-14",
    "2001-12-14t21:59:43.10-05:00",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "1e400",
    "0.1",
    "1e21",
    "100000000000000000000000",
    "'on'",
    "\"on\"",
    "!!str 1",
    "!!str on",
    "\"\\x41\\u00e9\\t\"",
    "'it''s'",
    "a b",
    "a: b",
    "a#b",
    "08",
    "0_7",
    "1__0",
    "_1",
    "0x",
    "=",
    "<<",
    "!!binary aGk=",
    "\"a\\\n    b\"",
    "|\n    a\n    b\n",
    ">-\n    a\n    b\n",
    "!!float 1",
    "!!int \"3\"",
];

/// Documents as a whole.
const DOCUMENTS: &[(&str, &str)] = &[
    ("merge", "x: &x {a: 1, b: 2}\ny: {<<: *x, b: 3}\nz: {<<: [*x, {c: 4}], a: 0}\n"),
    (
        "merge_by_the_tag",
        "x: {! <<: {a: 1}, b: 2}\nz: {! \"<<\": {a: 1}}\nw: {!!str <<: {a: 1}}\nv: [! <<, ! 12]\n",
    ),
    ("alias", "x: &x [1, {a: b}]\ny: *x\nz: {k: *x}\n"),
    ("closing_brace_at_the_parents_column", "x: {\n  a: 1,\n}\ny: [\n  1,\n]\n"),
    ("list_at_the_parents_column", "x:\n- a\n- b\ny:\n- - 1\n  - 2\n- k: v\n  l: w\n"),
    ("comments", "x: a # b\ny: 'a # b'\n# z: c\nz: [a, # b\n  c]\n"),
    ("quoted_keys", "\"x\": 1\n'y': 2\n? z\n: 3\n"),
    ("block_scalars", "x: |2\n    a\n   b\ny: |+\n  a\n\nz: >\n  a\n  b\n\n  c\n   d\n"),
    ("plain_over_lines", "x: a\n  b\n\n  c\ny: [a\n  b, c]\n"),
    ("document_marks", "x: 1\n...\n"),
    ("carriage_returns", "x: a\r\ny: |\r\n  b\r\n  c\r\nz: [1,\r\n  2]\r\n"),
    ("tabs_between", "x:\ta\ny:\t[1,\t2]\n"),
    ("unicode", "x: \u{e9}\u{1f600}\ny: \"\\U0001F600\"\n\"\u{fc}\": z\n"),
    ("key_twice", "x: 1\nx: 2\n"),
];

/// Values of a key of a JSON document behind a separator, which kubectl reads as YAML.
const JSON_VALUES: &[&str] = &[
    "\"a\u{85}\u{85}b\"",
    "\"a \u{2028} b\u{2029}\"",
    "\"\\u0085\\/\\u2028\"",
    "\"\\ud83d\\ude00\"",
    "\"\\ud800\"",
    "\"a\\x41\"",
    "\"a\n\n b\"",
    "\"a\tb\"",
    "1e3",
    "1.0",
    "-0.0",
    "1e400",
    "12345678901234567890",
    "[1, 2 3,]",
    "1,\"z\":2",
    "1,\n\t\"y\":2",
];

/// Streams with separators that kubectl drops, keeps or refuses; `THING` and `OTHER` stand for objects, and the lines of `OTHER`
/// end with a carriage return alone.
const STREAMS: &[&str] = &[
    "THING---\nTHING---\n---\nTHING",
    "---\nTHING--- # a\rOTHER",
    "THING--- # a\u{2028}OTHER",
    "THING---\n---\n--- # a\rOTHER",
    "---\n--- # a\rOTHER",
    "THING--- # a\u{85}OTHER\n---\nTHING",
    "\n--- # a\rOTHER",
    "---\t # a\r\r\nTHING",
    "---\r\n---\r\nTHING",
    "---#a\nTHING",
    "---\u{a0}\nTHING",
    "--- # \u{7f}\nTHING",
    "\u{feff}THING---\n\u{feff}THING",
];

pub(crate) fn add(suite: &mut Suite) {
    let (shared, tools) =
        (suite.need(Need::Shared, "yaml_oracle::corpus"), suite.need(Need::E2e, "yaml_oracle"));
    let Some(tools) = tools else { return };
    if let Some(corpus) = shared.map(|s| s.join("corpus")) {
        for name in names(&corpus).into_iter().filter(|n| n.ends_with(".yaml")) {
            let (kubectl, path) = (tools.join("kubectl"), corpus.join(&name));
            suite.add(format!("yaml_oracle::{name}"), move || Ok(compare(&kubectl, &path)?));
        }
    }
    let kubectl = tools.join("kubectl");
    for (name, body) in DOCUMENTS {
        let kubectl = kubectl.clone();
        suite.add(format!("yaml_oracle::document::{name}"), move || Ok(thing(&kubectl, body)?));
    }
    for (number, stream) in STREAMS.iter().enumerate() {
        let kubectl = kubectl.clone();
        suite.add(format!("yaml_oracle::stream::{number:02}"), move || {
            let thing = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: thing}\n";
            let text = stream.replace("THING", thing).replace("OTHER", &thing.replace('\n', "\r"));
            let scratch = Scratch::new()?;
            scratch.write("thing.yaml", &text)?;
            Ok(compare(&kubectl, &scratch.path().join("thing.yaml"))
                .map_err(|e| format!("{e}\nof {text:?}"))?)
        });
    }
    for (number, value) in JSON_VALUES.iter().enumerate() {
        let kubectl = kubectl.clone();
        suite.add(format!("yaml_oracle::json::{number:02}"), move || {
            let thing =
                "\"apiVersion\":\"example.com/v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"thing\"}";
            let scratch = Scratch::new()?;
            // At the start of a file, kubectl reads JSON.
            for before in ["", "---\n"] {
                scratch.write("thing.yaml", format!("{before}{{{thing},\"z\":{value}}}\n"))?;
                compare(&kubectl, &scratch.path().join("thing.yaml"))
                    .map_err(|e| format!("{e}\nof {before:?} and {value}"))?;
            }
            Ok(())
        });
    }
    for (number, scalar) in SCALARS.iter().enumerate() {
        let kubectl = kubectl.clone();
        suite.add(format!("yaml_oracle::scalar::{number:02}"), move || {
            let body = format!("x: {scalar}\ny:\n  - {scalar}\nz: {{}}\n");
            thing(&kubectl, &body)?;
            if scalar.is_empty() || scalar.contains([':', '\n']) || *scalar == "<<" {
                return Ok(());
            }
            Ok(thing(&kubectl, &format!("z: {{}}\n{scalar}: a\n"))?)
        });
    }
}

/// An object of no known kind with this body. Where kubectl refuses it, so must we, and the other way round.
fn thing(kubectl: &Path, body: &str) -> Result<(), String> {
    let scratch = Scratch::new()?;
    let text = format!("apiVersion: example.com/v1\nkind: Thing\nmetadata: {{name: thing}}\n{body}");
    scratch.write("thing.yaml", &text)?;
    compare(kubectl, &scratch.path().join("thing.yaml")).map_err(|e| format!("{e}\nof:\n{text}"))
}

fn compare(kubectl: &Path, path: &Path) -> Result<(), String> {
    let bytes = std::fs::read(path).map_err(|e| e.to_string())?;
    let ours: Vec<Value> = documents(&bytes).into_iter().map(|(_, json)| json).collect();
    let home = Scratch::new()?;
    let output = Command::new(kubectl)
        .args(["annotate", "--local", "--overwrite", "-o", "json", &format!("{MARK}=1"), "-f"])
        .arg(path)
        .env("HOME", home.path())
        .env("KUBECONFIG", home.path().join("none"))
        .output()
        .map_err(|e| format!("kubectl: {e}"))?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        let refused =
            if ours.is_empty() { Ok(()) } else { Err(format!("kubectl refuses it, we do not: {stderr}")) };
        return refused.map_err(|e| format!("{e}\n{ours:?}"));
    }
    let mut theirs = Vec::new();
    for object in serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>() {
        theirs.push(unmarked(object.map_err(|e| format!("kubectl's output: {e}"))?));
    }
    same("objects", theirs.len(), ours.len())?;
    for (ours, theirs) in ours.iter().zip(&theirs) {
        same("the object as kubectl reads it", theirs, &unmarked(ours.clone()))?;
    }
    Ok(())
}

/// Without the annotation, and without `metadata.annotations` where nothing is left of it.
fn unmarked(mut object: Value) -> Value {
    if let Some(metadata) = object["metadata"].as_object_mut() {
        let empty = metadata.get_mut("annotations").is_none_or(|annotations| match annotations {
            Value::Object(annotations) => {
                annotations.remove(MARK);
                annotations.is_empty()
            }
            other => other.is_null(),
        });
        if empty {
            metadata.remove("annotations");
        }
    }
    object
}
