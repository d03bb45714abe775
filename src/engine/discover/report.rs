//! What discover prints: YAML for a person and for `kubectl apply`, JSON for programs.

use super::drift::Drift;
use super::{Discovered, Draft};
use crate::text::count;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Schema of the JSON.
pub const SCHEMA: &str = "fabric-admission.dev/discover/v1";
/// Names of nodes that are printed for one fabric.
const MAX_NAMES: usize = 3;
/// Columns of a comment.
const WIDTH: usize = 110;

fn names(nodes: &[String]) -> String {
    let shown: Vec<&str> = nodes.iter().take(MAX_NAMES).map(String::as_str).collect();
    match nodes.len().saturating_sub(MAX_NAMES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// A comment, broken into lines; continued lines are indented.
fn comment(out: &mut String, text: &str) {
    let mut line = "#".to_owned();
    for word in text.replace(char::is_control, " ").split(' ') {
        if line.len() + 1 + word.len() > WIDTH && line.len() > 3 {
            let _ = writeln!(out, "{line}");
            line = "#  ".to_owned();
        }
        line.push(' ');
        line.push_str(word);
    }
    let _ = writeln!(out, "{line}");
}

/// YAML: the profiles, and as comments the questions and the nodes without a profile.
#[must_use]
pub fn yaml(found: &Discovered) -> String {
    let mut out = String::new();
    for draft in &found.drafts {
        if !out.is_empty() {
            out.push_str("---\n");
        }
        comment(&mut out, &format!("{}: {}: {}", draft.name, count(draft.nodes.len(), "node"), names(&draft.nodes)));
        for question in &draft.questions {
            comment(&mut out, &format!("Question: {question}"));
        }
        out.push_str(&draft.yaml());
    }
    for unknown in &found.unknown {
        if !out.is_empty() {
            out.push_str("---\n");
        }
        let nodes = format!("{}: {}", count(unknown.nodes.len(), "node"), names(&unknown.nodes));
        comment(&mut out, &format!("No profile for {nodes}"));
        comment(&mut out, &format!("Reason: {}.", unknown.reason));
        comment(&mut out, &format!("Question: {}", unknown.question));
    }
    if out.is_empty() {
        comment(&mut out, "No profile: the objects contain no node with accelerators.");
    }
    out
}

/// JSON: the same, with the origin of each value.
#[must_use]
pub fn json(found: &Discovered) -> Value {
    let draft = |draft: &Draft| {
        let origins: serde_json::Map<String, Value> =
            draft.origins().into_iter().map(|(pointer, from)| (pointer, Value::String(from))).collect();
        json!({"profile": draft.json(), "origins": origins, "questions": draft.questions, "nodes": draft.nodes})
    };
    let unknown = found.unknown.iter().map(|unknown| {
        json!({"nodes": unknown.nodes, "reason": unknown.reason, "question": unknown.question})
    });
    let unread = found.unread.iter().map(|(kind, reason)| json!({"kind": kind, "reason": reason}));
    json!({
        "schema": SCHEMA,
        "profiles": found.drafts.iter().map(draft).collect::<Vec<_>>(),
        "unknown": unknown.collect::<Vec<_>>(),
        "unread": unread.collect::<Vec<_>>(),
    })
}

/// The differences as text, one a line.
#[must_use]
pub fn drift_text(drifts: &[Drift]) -> String {
    let mut out = String::new();
    for drift in drifts {
        let _ = writeln!(out, "{drift}");
    }
    out
}

/// The differences as JSON.
#[must_use]
pub fn drift_json(drifts: &[Drift]) -> Value {
    let one = |drift: &Drift| {
        json!({"profile": drift.profile, "field": drift.field, "inProfile": drift.in_profile,
            "inCluster": drift.in_cluster, "origin": drift.origin})
    };
    json!({"schema": "fabric-admission.dev/discover-diff/v1", "drift": drifts.iter().map(one).collect::<Vec<_>>()})
}
