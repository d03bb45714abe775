//! The answer: AdmissionReview v1 with patch, warnings, denial and audit annotations.

use super::verdict::Verdict;
use super::warnings::warnings;
use super::webhook::{Answer, WebhookEntry};
use crate::plan::ChangeKind;
use crate::rules::{Finding, Severity, folded};
use crate::text::{count, printable, push_json};
use base64::Engine;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// First line of a denial (bytes): event lists show little more.
const MAX_FIRST_LINE: usize = 300;
/// Most findings in a denial.
const MAX_DENIALS: usize = 20;
/// Ends the first line of a denial.
const HINT: &str = "; run `fabric-admission review` on the manifest";
/// Longest text of an evidence in the logs (characters).
pub const MAX_EVIDENCE: usize = 300;
/// Longest list of names of profiles in the logs (characters).
pub const MAX_PROFILES: usize = 1_000;
/// Whole denial (bytes).
const MAX_MESSAGE: usize = 8 * 1024;

#[derive(Serialize)]
struct Status {
    code: u16,
    /// kubectl drops the message of reason Invalid, and prints that of Forbidden with its newlines.
    reason: &'static str,
    message: String,
}

/// What the server knows of a request beside the decision, for the audit annotations.
#[derive(Debug, Clone, Copy, Default)]
pub struct Noted<'a> {
    /// The controller that creates the object, as `KIND/NAME`; empty without one. It is in the object's namespace.
    pub owner: &'a str,
    /// How long the decision took.
    pub took: Option<Duration>,
}

/// JSON text of the answer.
///
/// # Errors
/// Those of serialising, which do not happen for texts and numbers.
pub fn render(outcome: &Answer) -> Result<Vec<u8>, serde_json::Error> {
    render_noted(outcome, &Noted::default())
}

/// JSON text of the answer, with what the server knows of the request.
///
/// # Errors
/// As [`render`].
pub fn render_noted(outcome: &Answer, noted: &Noted<'_>) -> Result<Vec<u8>, serde_json::Error> {
    let decision = &outcome.decision;
    let mut out = String::with_capacity(512);
    out.push_str(r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"#);
    push_json(&mut out, &outcome.uid);
    out.push_str(if decision.denied { r#","allowed":false"# } else { r#","allowed":true"# });
    if decision.denied {
        let message = denial(&decision.findings);
        member(&mut out, "status", &Status { code: 403, reason: "Forbidden", message })?;
    }
    if !decision.patch.is_empty() {
        // Both or neither: the API server refuses one without the other. Written without serde_json, which would search
        // the text for characters to escape: base64 has none.
        out.push_str(r#","patchType":"JSONPatch","patch":""#);
        base64::engine::general_purpose::STANDARD
            .encode_string(crate::patch::render(&decision.patch), &mut out);
        out.push('"');
    }
    // The denial lists the warnings too; kubectl would print them twice.
    let warnings = if decision.denied { Vec::new() } else { warnings(outcome) };
    if !warnings.is_empty() {
        member(&mut out, "warnings", &warnings)?;
    }
    let annotations = audit(outcome, noted);
    if !annotations.is_empty() {
        member(&mut out, "auditAnnotations", &annotations)?;
    }
    out.push_str("}}");
    Ok(out.into_bytes())
}

/// Writes a member after another one.
fn member(out: &mut String, name: &str, value: &impl Serialize) -> Result<(), serde_json::Error> {
    out.push(',');
    push_json(out, name);
    out.push(':');
    out.push_str(&serde_json::to_string(value)?);
    Ok(())
}

/// The text of a denial. Its first line stands alone; the rest is most severe first.
#[must_use]
pub fn denial(findings: &[Finding]) -> String {
    let errors: Vec<&Finding> = findings.iter().filter(|f| f.severity == Severity::Error).collect();
    let worst = errors.first().map(|f| format!(", {} {}", f.rule, f.message)).unwrap_or_default();
    let first = format!("{}{worst}", count(errors.len(), "error"));
    let mut message = cut(&first, MAX_FIRST_LINE - HINT.len());
    message.push_str(HINT);
    let mut shown = 0;
    let reported = folded(findings.iter().filter(|f| f.severity >= Severity::Warning));
    for (finding, more) in reported.iter().take(MAX_DENIALS) {
        let path = if finding.path.is_empty() { "object" } else { &finding.path };
        let more = if *more == 0 { String::new() } else { format!(" ({more} more of the same)") };
        let line = format!("\n{} {path}: {}{more}", finding.rule, finding.line());
        if message.len() + line.len() > MAX_MESSAGE - 32 {
            break;
        }
        message.push_str(&line);
        shown += 1;
    }
    let left = reported.len() - shown;
    if left > 0 {
        message.push_str(&format!("\n{left} more"));
    }
    message
}

/// At most `max` bytes, on a character.
fn cut(text: &str, max: usize) -> String {
    let mut end = max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default().to_owned()
}

/// Audit annotations. They have what the log has; the API server adds the user, the object and the times. The mutating
/// entry reports its changes; if it is called again and changes more, the API server keeps the first value of a key. The
/// validating entry sees the final state.
fn audit(outcome: &Answer, noted: &Noted<'_>) -> BTreeMap<&'static str, String> {
    let decision = &outcome.decision;
    let mut annotations = BTreeMap::new();
    if !decision.in_scope {
        return annotations;
    }
    let (mutates, audits) = (outcome.entry == WebhookEntry::Mutate, outcome.entry == WebhookEntry::Audit);
    let changes = &decision.plan.changes;
    if audits || (mutates && !decision.patch.is_empty()) {
        let counts = ChangeKind::counts(changes.iter().map(|c| &c.edit));
        if !counts.is_empty() {
            annotations.insert("changes", counts);
        }
    }
    // The API server logs a warning about a key that it has already.
    if (!mutates || !annotations.is_empty())
        && let Some(took) = noted.took
    {
        annotations.insert("duration_seconds", format!("{:.6}", took.as_secs_f64()));
    }
    if mutates {
        return annotations;
    }
    annotations.insert("decision", Verdict::of(outcome).name().to_owned());
    if let Some(profile) = &decision.profile {
        annotations.insert("profile", printable(profile, MAX_PROFILES));
    }
    if let Some(evidence) = &decision.evidence {
        annotations.insert("evidence", printable(evidence, MAX_EVIDENCE));
    }
    if !noted.owner.is_empty() {
        annotations.insert("owner", noted.owner.to_owned());
    }
    let ids = |rules: &mut dyn Iterator<Item = &'static str>| -> String {
        let mut rules: Vec<&str> = rules.collect();
        rules.sort_unstable();
        rules.dedup();
        rules.join(",")
    };
    let rules = ids(&mut decision.findings.iter().map(|f| f.rule));
    let ignored = ids(&mut decision.suppressed.iter().map(|s| s.finding.rule));
    for (key, ids) in [("rules", rules), ("ignored", ignored)] {
        if !ids.is_empty() {
            annotations.insert(key, ids);
        }
    }
    annotations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(n: usize) -> Finding {
        let text = "x".repeat(300);
        Finding {
            rule: "FAB201",
            severity: Severity::Error,
            path: format!("/spec/{n}"),
            spot: None,
            message: text.clone(),
            fix: text,
            because: None,
            other: None,
        }
    }

    #[test]
    fn a_denial_keeps_its_bounds() {
        let message = denial(&(0..100).map(finding).collect::<Vec<_>>());
        let first = message.lines().next().unwrap();
        assert!(first.len() <= MAX_FIRST_LINE, "{}", first.len());
        assert!(message.len() <= MAX_MESSAGE && message.ends_with(" more"), "{}", message.len());
        assert!(message.lines().count() <= MAX_DENIALS + 2);
    }
}
