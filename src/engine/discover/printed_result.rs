//! What discover prints: YAML for a person and for `kubectl apply`, JSON for programs.

use super::commented_yaml::text_of_comment;
use super::discovered::{Discovered, Unknown};
use super::drift_of_profiles::{Comparison, Drift, NotCompared};
use super::profile_draft::Draft;
use crate::text::count_with_noun;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Schema of the JSON.
pub const SCHEMA: &str = "fabric-admission.dev/discover/v1";
/// Schema of the JSON with `--diff`.
pub const DIFF_SCHEMA: &str = "fabric-admission.dev/discover-diff/v1";
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
fn write_comment(out: &mut String, text: &str) {
    let mut line = "#".to_owned();
    for word in text_of_comment(text).split(' ') {
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
        write_comment(
            &mut out,
            &format!(
                "{}: {}: {}",
                draft.name,
                count_with_noun(draft.nodes.len(), "node"),
                names(&draft.nodes)
            ),
        );
        for question in &draft.questions {
            write_comment(&mut out, &format!("Question: {question}"));
        }
        out.push_str(&draft.yaml());
    }
    for unknown in &found.unknown {
        if !out.is_empty() {
            out.push_str("---\n");
        }
        let nodes = match unknown.nodes.as_slice() {
            [] => unknown.subject(),
            nodes => format!("{}: {}", unknown.subject(), names(nodes)),
        };
        write_comment(&mut out, &format!("No profile for {nodes}"));
        write_comment(&mut out, &format!("Reason: {}.", unknown.reason));
        write_comment(&mut out, &format!("Question: {}", unknown.question));
    }
    if out.is_empty() {
        write_comment(&mut out, &format!("No profile: {}.", why_nothing_was_found(found)));
    }
    out
}

/// Why nothing was found.
#[must_use]
pub fn why_nothing_was_found(found: &Discovered) -> &'static str {
    if found.unread.iter().any(|(kind, _)| kind == "Node") {
        "the nodes could not be read"
    } else {
        "the objects contain no node with accelerators"
    }
}

/// The result as programs read it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Report {
    /// Always `fabric-admission.dev/discover/v1`.
    schema: &'static str,
    /// Profiles whose values are all observed.
    profiles: Vec<ProfileEntry>,
    /// Nodes with accelerators whose fabric is unknown.
    unknown: Vec<UnknownEntry>,
    /// Kinds that could not be read.
    unread: Vec<UnreadEntry>,
}

/// A profile.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DiscoveredProfile")]
pub struct ProfileEntry {
    /// The FabricProfile.
    profile: Value,
    /// The object or label that each value comes from, by JSON pointer of the value.
    origins: BTreeMap<String, String>,
    /// Questions that only a person can answer; the profile works without the answers.
    questions: Vec<String>,
    /// Names of the nodes of the fabric.
    nodes: Vec<String>,
}

/// Nodes without a profile.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Unknown")]
pub struct UnknownEntry {
    /// Names of the nodes; empty for a pool that has no node now.
    nodes: Vec<String>,
    /// Why their fabric is unknown.
    reason: String,
    /// The question whose answer makes a profile possible.
    question: String,
}

/// A kind that could not be read.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "UnreadKind")]
pub struct UnreadEntry {
    /// Name of the kind.
    kind: String,
    /// Why it could not be read.
    reason: String,
}

impl Report {
    /// The result with the origin of each value.
    #[must_use]
    pub fn new(found: &Discovered) -> Self {
        let profile = |draft: &Draft| ProfileEntry {
            profile: draft.json(),
            origins: draft.origins().into_iter().collect(),
            questions: draft.questions.clone(),
            nodes: draft.nodes.clone(),
        };
        let unknown = |unknown: &Unknown| UnknownEntry {
            nodes: unknown.nodes.clone(),
            reason: unknown.reason.clone(),
            question: unknown.question.clone(),
        };
        let unread = found.unread.iter();
        Self {
            schema: SCHEMA,
            profiles: found.drafts.iter().map(profile).collect(),
            unknown: found.unknown.iter().map(unknown).collect(),
            unread: unread
                .map(|(kind, reason)| UnreadEntry { kind: kind.clone(), reason: reason.clone() })
                .collect(),
        }
    }
}

/// The differences as programs read them.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiffReport {
    /// Always `fabric-admission.dev/discover-diff/v1`.
    schema: &'static str,
    /// The differences, in the order of the profiles.
    drift: Vec<Drift>,
    /// Profiles that could not be compared, wholly or for some of their nodes.
    not_compared: Vec<NotCompared>,
}

impl DiffReport {
    /// The differences.
    #[must_use]
    pub fn new(comparison: &Comparison) -> Self {
        let Comparison { drifts, not_compared, .. } = comparison;
        Self { schema: DIFF_SCHEMA, drift: drifts.clone(), not_compared: not_compared.clone() }
    }
}

/// The differences as text, one a line.
#[must_use]
pub fn drift_text(drifts: &[Drift]) -> String {
    let mut out = String::new();
    for drift in drifts {
        let _ = writeln!(out, "{}", text_of_comment(&drift.to_string()));
    }
    out
}
