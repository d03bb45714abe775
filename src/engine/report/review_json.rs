//! The review as JSON, `fabric-admission.dev/review/v1`. Fields are only ever added; unknown values are
//! `null`, never absent.

use super::baseline_comparison::Comparison;
use super::baseline_comparison_while_reviewing::BaselineState;
use super::review_summary_by_rule::RuleCount;
use super::{
    Located, ReviewedObject, Skipped, Source, Summary, UnreadInput, message_with_profile_that_sets_value,
};
use crate::facts::EnforcementMode;
use crate::patch::Patch;
use crate::plan::Carrier;
use crate::rules::Severity;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Name and version of the format.
pub const SCHEMA: &str = "fabric-admission.dev/review/v1";

/// The whole document. It is written piece by piece; this type gives the schema.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Document")]
pub struct ReviewDocument<'a> {
    /// Always `fabric-admission.dev/review/v1`.
    pub schema: &'static str,
    /// Counts.
    pub summary: Summary,
    /// One entry for each pod template, and one for each object with rules of its own.
    pub results: Vec<ResultEntry<'a>>,
    /// Findings by rule and severity, the most severe first.
    pub rules: Vec<RuleCount>,
    /// Comparison with the baseline; null without one.
    pub baseline: Option<Comparison>,
    /// Skipped objects.
    pub skipped: Vec<Skipped>,
    /// Errors of unreadable inputs.
    pub errors: Vec<UnreadInput>,
}

/// One result.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResultEntry<'a> {
    /// Place of the object in the input.
    source: &'a Source,
    /// `apiVersion` of the object.
    api_version: &'a str,
    /// `kind` of the object.
    kind: &'a str,
    /// Namespace; null for kinds without one.
    namespace: Option<&'a str>,
    /// `metadata.name`.
    name: Option<&'a str>,
    /// `metadata.generateName`.
    generate_name: Option<&'a str>,
    /// JSON pointer of the pod template; empty for a pod, null for the object's own findings. Pointers in
    /// patch, changes and findings are relative to the object there.
    template: Option<&'a str>,
    /// Name of the profile that applies.
    profile: Option<&'a str>,
    /// Evidence for the profile, or the reason why there is none.
    evidence: Option<&'a str>,
    /// Whether the namespace opted in; if not, findings are info and nothing is changed.
    opted_in: bool,
    /// `enforce` or `audit`.
    mode: &'static str,
    /// `allow` or `deny`.
    verdict: &'static str,
    /// Whether mode enforce would deny.
    would_deny: bool,
    /// RFC 6902 operations.
    patch: Vec<PatchEntry<'a>>,
    /// Intended changes with their reasons.
    changes: Vec<ChangeEntry<'a>>,
    /// Findings, most severe first.
    findings: Vec<FindingEntry<'a>>,
    /// Findings that are reported once, with an earlier result (count): from the same YAML anchor, on the same
    /// placeholders of the file, or on the same pair of objects. They affect the verdict and the exit code.
    repeated: usize,
    /// Findings that the flags --rule and --severity leave out (count). They affect the verdict and the exit code.
    not_shown: usize,
    /// Ignored findings. They do not affect the exit code; those that an annotation ignores do not affect the verdict
    /// either.
    suppressed: Vec<SuppressedEntry<'a>>,
}

/// One operation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PatchEntry<'a> {
    op: &'a str,
    path: Cow<'a, str>,
    #[schemars(with = "serde_json::Value")]
    value: &'a RawValue,
}

/// One change.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChangeEntry<'a> {
    /// JSON pointer of the value in the patched object.
    path: String,
    /// `env`, `file` or `object`.
    carrier: Carrier,
    /// The change as text.
    summary: String,
    /// Reason.
    reason: &'a str,
}

/// One finding.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FindingEntry<'a> {
    /// Id of the rule.
    rule: &'a str,
    /// `error`, `warning` or `info`.
    severity: Severity,
    /// JSON pointer of the value.
    path: &'a str,
    /// Message.
    message: Cow<'a, str>,
    /// Fix.
    fix: &'a str,
    /// Why the severity is lower than the rule's; empty if it is not lower.
    because: &'a str,
    /// Repetitions of the finding, at other places of one YAML anchor or with other objects (count).
    repeats: usize,
    /// `new` or `unchanged` since the baseline; null without one.
    baseline: Option<BaselineState>,
    /// Line in the file, from 1.
    line: Option<u32>,
    /// Column in the file, from 1.
    column: Option<u32>,
}

/// One ignored finding.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SuppressedEntry<'a> {
    /// Id of the rule.
    rule: &'a str,
    /// `error`, `warning` or `info`.
    severity: Severity,
    /// JSON pointer of the value.
    path: &'a str,
    /// Message.
    message: Cow<'a, str>,
    /// Fix.
    fix: &'a str,
    /// Reason for ignoring it.
    reason: &'a str,
    /// `annotation` or `configuration` (`.fabric-admission.yaml`).
    by: &'static str,
    /// Line in the file, from 1.
    line: Option<u32>,
    /// Column in the file, from 1.
    column: Option<u32>,
}

/// Operations as JSON entries.
#[must_use]
pub fn patch_entries(patch: &Patch) -> Vec<PatchEntry<'_>> {
    let operations = patch.read_operations().into_iter();
    operations.map(|o| PatchEntry { op: o.op, path: o.path.0, value: o.value }).collect()
}

/// Name of a mode.
#[must_use]
pub fn mode_name(mode: EnforcementMode) -> &'static str {
    match mode {
        EnforcementMode::Enforce => "enforce",
        EnforcementMode::Audit => "audit",
    }
}

impl<'a> From<&'a ReviewedObject> for ResultEntry<'a> {
    fn from(r: &'a ReviewedObject) -> Self {
        let decision = &r.decision;
        Self {
            source: &r.source,
            api_version: &r.api_version,
            kind: &r.kind,
            namespace: r.namespace.as_deref(),
            name: r.name.as_deref(),
            generate_name: r.generate_name.as_deref(),
            template: r.template.as_deref(),
            profile: decision.profile.as_deref(),
            evidence: decision.evidence.as_deref(),
            opted_in: r.opted_in,
            mode: mode_name(r.mode),
            verdict: if decision.denied { "deny" } else { "allow" },
            would_deny: decision.would_deny,
            patch: patch_entries(&decision.patch),
            changes: decision
                .plan
                .changes
                .iter()
                .map(|c| ChangeEntry {
                    path: c.edit.path(),
                    carrier: c.edit.carrier(),
                    summary: c.edit.summary(),
                    reason: &c.reason,
                })
                .collect(),
            findings: r
                .findings
                .iter()
                .map(|Located { item: f, place, repeats, baseline }| FindingEntry {
                    rule: f.rule,
                    severity: f.severity,
                    path: &f.path,
                    message: message_with_profile_that_sets_value(decision, f),
                    fix: &f.fix,
                    because: f.because.unwrap_or_default(),
                    repeats: *repeats,
                    baseline: *baseline,
                    line: Some(place.line),
                    column: Some(place.column),
                })
                .collect(),
            repeated: r.repeated.count,
            not_shown: r.not_shown,
            suppressed: r
                .suppressed
                .iter()
                .map(|suppressed| ("annotation", suppressed))
                .chain(r.waived.iter().map(|waived| ("configuration", waived)))
                .map(|(by, Located { item: s, place, .. })| SuppressedEntry {
                    rule: s.finding.rule,
                    severity: s.finding.severity,
                    path: &s.finding.path,
                    message: message_with_profile_that_sets_value(decision, &s.finding),
                    fix: &s.finding.fix,
                    reason: &s.reason,
                    by,
                    line: Some(place.line),
                    column: Some(place.column),
                })
                .collect(),
        }
    }
}
