//! Findings of offline commands far from the start of their document, of their line, or of a long list of findings: the
//! place of one costs what its own object costs, wherever the object stands.

use super::offline_review::{FLOOR, ran};
use super::{TIMES, compare, verdict};
use crate::support::Scratch;
use crate::support::suite::Outcome;
use serde_json::{Value, json};
use std::iter::once;

/// The larger input (bytes). Three quarters of each are an object before those with findings: reading it again for each
/// finding costs more than the findings.
const LARGE: usize = 320 << 10;

/// How many times as much the larger input may cost. In proportion it is 8. Without the table of lines and the starts of
/// objects, it was 17 and more.
const MOST: f64 = 14.0;

/// The name of a shape, its command, and its input with about so many bytes.
type Shape = (&'static str, &'static str, fn(usize) -> String);

const JSON: &str = "review input -o json";

const SHAPES: [Shape; 11] = [
    ("values of a wrong type", JSON, |bytes| list(bytes, wrong_type)),
    ("values of a wrong type in text", "review input", |bytes| list(bytes, wrong_type)),
    ("values of a wrong type in SARIF", "review input -o sarif", |bytes| list(bytes, wrong_type)),
    ("values of a wrong type in why", "why input -o json", |bytes| list(bytes, wrong_type)),
    ("values of a wrong type on lines of their own", JSON, lines),
    ("values that cannot be read", JSON, |bytes| list(bytes, unreadable)),
    ("faults in JSON texts", JSON, |bytes| list(bytes, network)),
    ("faults in JSON texts of a stream without lines", JSON, stream),
    ("values of YAML aliases", JSON, aliases),
    ("items beside keys that are given twice", JSON, beside_repeated_keys),
    ("keys that one object gives twice", "review input", repeated_keys),
];

pub(super) fn proportionate() -> Outcome {
    let scratch = Scratch::new()?;
    let only: Option<String> = super::given("FABRIC_ADMISSION_COST_ONLY");
    let shapes = SHAPES.iter().filter(|(label, ..)| only.as_ref().is_none_or(|part| label.contains(part)));
    let taken = shapes.map(|(label, command, make)| {
        let inputs = [0, LARGE / TIMES, LARGE].map(|bytes| make(bytes).into_bytes());
        let cost = |input: &[u8], times: usize| {
            scratch.write("input", input).unwrap();
            (0..times).map(|_| ran(command, &scratch).unwrap()).min().unwrap_or_default()
        };
        compare((*label).to_owned(), inputs, FLOOR, cost)
    });
    let taken: Vec<_> = taken.collect();
    verdict("findings", &taken, 1, MOST)
}

/// An object without a finding, with three quarters of some bytes.
fn before(bytes: usize) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"},
        "data": {"text": "x".repeat(bytes * 3 / 4)}})
}

/// The other quarter.
fn behind(bytes: usize, object: impl Fn(usize) -> Value) -> impl Iterator<Item = Value> {
    let one = object(0).to_string().len();
    (0..=bytes / 4 / one).map(object)
}

/// A List on one line.
fn list(bytes: usize, object: impl Fn(usize) -> Value) -> String {
    let items: Vec<Value> = once(before(bytes)).chain(behind(bytes, object)).collect();
    json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()
}

fn stream(bytes: usize) -> String {
    once(before(bytes)).chain(behind(bytes, network)).map(|object| object.to_string()).collect()
}

fn pod(i: usize, container: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": format!("p{i}")}, "spec": {"containers": [container]}})
}

fn wrong_type(i: usize) -> Value {
    pod(i, json!({"name": "a", "env": [{"name": "A", "value": 1}]}))
}

fn unreadable(i: usize) -> Value {
    pod(i, json!({"name": "a", "env": [{"name": "A", "value": 1}], "tty": "maybe"}))
}

fn network(i: usize) -> Value {
    json!({"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition",
        "metadata": {"name": format!("n{i}"), "namespace": "t"}, "spec": {"config": "{\"type\":\"sriov\",}"}})
}

/// A List in block style, behind comments.
fn lines(bytes: usize) -> String {
    let item = |i: usize| {
        format!(
            "- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: p{i}\n  spec:\n    containers:\n    - name: a\n      \
             env: [{{name: A, value: 1}}]\n"
        )
    };
    let comments = "# a line before all items\n".repeat(bytes / 26 * 3 / 4);
    let items: String = (0..=bytes / 4 / item(0).len()).map(item).collect();
    format!("{comments}apiVersion: v1\nkind: List\nitems:\n{items}")
}

fn aliases(bytes: usize) -> String {
    let item = |i: usize| {
        let value = if i == 0 { "&a false" } else { "*a" };
        format!(
            "- {{apiVersion: v1, kind: Pod, metadata: {{name: p{i}}}, spec: {{hostNetwork: {value}, containers: \
             [{{name: a, resources: {{limits: {{nvidia.com/gpu: 8}}}}}}]}}}}\n"
        )
    };
    let items: String = (0..=bytes / 4 / item(0).len()).map(item).collect();
    format!("apiVersion: v1\nkind: List\nitems:\n- {}\n{items}", before(bytes))
}

fn beside_repeated_keys(bytes: usize) -> String {
    let items: Vec<String> =
        behind(bytes, |i| json!({"kind": format!("A{i}")})).map(|o| o.to_string()).collect();
    let keys = vec!["\"a\":\"\""; bytes / 7 * 3 / 4].join(",");
    format!("{{\"kind\":\"List\",\"items\":[{{\"kind\":\"A\",\"data\":{{{keys}}}}},{}]}}", items.join(","))
}

fn repeated_keys(bytes: usize) -> String {
    let keys = vec!["\"a\":\"\""; bytes / 7].join(",");
    format!(
        "{{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{{\"labels\":{{{keys}}}}},\"spec\":{{\"containers\":[]}}}}"
    )
}
