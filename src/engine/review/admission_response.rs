//! The answer: AdmissionReview v1 with patch, warnings, denial and audit annotations.

use super::decide_webhook_request::{Answer, WebhookEntry};
use super::response_warnings::warnings;
use super::verdict_for_metrics::Verdict;
use crate::json::write::{MemberWriter, push_list, push_object, push_text_of_parts};
use crate::plan::ChangeKind;
use crate::rules::{Finding, Severity, fold_by_other_object};
use crate::text::{count_with_noun, escaped_and_cut, push_json_text};
use base64::Engine;
use std::time::Duration;

/// First line of a denial (bytes): event lists show little more.
const MAX_FIRST_LINE: usize = 300;
/// Most findings in a denial.
const MAX_FINDINGS_IN_DENIAL: usize = 20;
/// Ends the first line of a denial.
const HINT: &str = "; run `fabric-admission review` on the manifest";
/// Longest text of an evidence in the logs (characters).
pub const MAX_EVIDENCE_LENGTH: usize = 300;
/// Longest list of names of profiles in the logs (characters).
pub const MAX_PROFILE_NAMES_LENGTH: usize = 1_000;
/// Whole denial (bytes).
const MAX_DENIAL_LENGTH: usize = 8 * 1024;

/// What the server knows of a request beside the decision, for the audit annotations.
#[derive(Debug, Clone, Copy, Default)]
pub struct OwnerAndDuration<'a> {
    /// The controller that creates the object, as `KIND/NAME`; empty without one. It is in the object's namespace.
    pub owner: &'a str,
    /// How long the decision took.
    pub took: Option<Duration>,
}

/// JSON text of the answer.
#[must_use]
pub fn render(outcome: &Answer) -> Vec<u8> {
    render_with_owner_and_duration(outcome, &OwnerAndDuration::default())
}

/// JSON text of the answer, with what the server knows of the request.
#[must_use]
pub fn render_with_owner_and_duration(outcome: &Answer, noted: &OwnerAndDuration<'_>) -> Vec<u8> {
    let decision = &outcome.decision;
    // The patch in base64, four bytes for three, and what stands around it.
    let mut out = String::with_capacity(768 + decision.patch.text().len() / 3 * 4);
    out.push_str(r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":"#);
    push_object(&mut out, |response| {
        response.push_text_member("uid", &outcome.uid);
        response.push_key("allowed").push_str(if decision.denied { "false" } else { "true" });
        if decision.denied {
            response.push_object_member("status", |status| {
                status.push_key("code").push_str("403");
                // kubectl drops the message of reason Invalid, and prints that of Forbidden with its newlines.
                status.push_text_member("reason", "Forbidden");
                status.push_text_member("message", &denial_message_with_warnings(&decision.findings));
            });
        }
        if !decision.patch.is_empty() {
            // Both or neither: the API server refuses one without the other.
            response.push_text_member("patchType", "JSONPatch");
            // Not searched for characters to escape: base64 has none.
            let out = response.push_key("patch");
            out.push('"');
            base64::engine::general_purpose::STANDARD.encode_string(decision.patch.text(), out);
            out.push('"');
        }
        // The denial lists the warnings too; kubectl would print them twice.
        let warnings = if decision.denied { Vec::new() } else { warnings(outcome) };
        if !warnings.is_empty() {
            push_list(response.push_key("warnings"), warnings.iter(), |out, warning| {
                push_json_text(out, warning)
            });
        }
        if has_audit(outcome) {
            response.push_object_member("auditAnnotations", |annotations| {
                write_audit_annotations(annotations, outcome, noted)
            });
        }
    });
    out.push('}');
    out.into_bytes()
}

/// The text of a denial. Its first line stands alone; the rest is most severe first.
#[must_use]
pub fn denial_message_with_warnings(findings: &[Finding]) -> String {
    let errors: Vec<&Finding> = findings.iter().filter(|f| f.severity == Severity::Error).collect();
    let worst = errors.first().map(|f| format!(", {} {}", f.rule, f.message)).unwrap_or_default();
    let first = format!("{}{worst}", count_with_noun(errors.len(), "error"));
    let mut message = cut(&first, MAX_FIRST_LINE - HINT.len());
    message.push_str(HINT);
    let mut shown = 0;
    let reported = fold_by_other_object(findings.iter().filter(|f| f.severity >= Severity::Warning));
    for (finding, more) in reported.iter().take(MAX_FINDINGS_IN_DENIAL) {
        let path = if finding.path.is_empty() { "object" } else { &finding.path };
        let more = if *more == 0 { String::new() } else { format!(" ({more} more like this)") };
        let line = format!("\n{} {path}: {}{more}", finding.rule, finding.message_and_fix_in_line());
        if message.len() + line.len() > MAX_DENIAL_LENGTH - 32 {
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

/// Whether the answer has audit annotations: the mutating entry has some only where it changes something.
fn has_audit(outcome: &Answer) -> bool {
    let mutates = outcome.entry == WebhookEntry::Mutate;
    outcome.decision.in_scope && (!mutates || reports_change_counts(outcome))
}

/// Whether the answer counts its changes. If the mutating entry is called again and changes more, the API server keeps
/// the first value of a key. The validating entry sees the final state.
fn reports_change_counts(outcome: &Answer) -> bool {
    let decision = &outcome.decision;
    let reports = match outcome.entry {
        WebhookEntry::Audit => true,
        WebhookEntry::Mutate => !decision.patch.is_empty(),
        _ => false,
    };
    reports && !decision.plan.changes.is_empty()
}

/// Audit annotations, by key. They have what the log has; the API server adds the user, the object and the times.
fn write_audit_annotations(
    annotations: &mut MemberWriter<'_>,
    outcome: &Answer,
    noted: &OwnerAndDuration<'_>,
) {
    let decision = &outcome.decision;
    let mutates = outcome.entry == WebhookEntry::Mutate;
    if reports_change_counts(outcome) {
        let counts = ChangeKind::counts(decision.plan.changes.iter().map(|c| &c.edit));
        // Names of kinds and numbers: nothing to escape.
        let out = annotations.push_key("changes");
        out.push('"');
        counts.write_to(out);
        out.push('"');
    }
    if !mutates {
        annotations.push_text_member("decision", Verdict::of(outcome).name());
    }
    if let Some(took) = noted.took {
        push_text_of_parts(
            annotations.push_key("duration_seconds"),
            format_args!("{:.6}", took.as_secs_f64()),
        );
    }
    // The API server logs a warning about a key that it has already.
    if mutates {
        return;
    }
    if let Some(evidence) = &decision.evidence {
        annotations.push_text_member("evidence", &escaped_and_cut(evidence, MAX_EVIDENCE_LENGTH));
    }
    write_rule_ids(annotations, "ignored", decision.suppressed.iter().map(|s| s.finding.rule));
    if !noted.owner.is_empty() {
        annotations.push_text_member("owner", noted.owner);
    }
    if let Some(profile) = &decision.profile {
        annotations.push_text_member("profile", &escaped_and_cut(profile, MAX_PROFILE_NAMES_LENGTH));
    }
    write_rule_ids(annotations, "rules", decision.findings.iter().map(|f| f.rule));
}

/// Ids of rules, each once, where there are any.
fn write_rule_ids(
    annotations: &mut MemberWriter<'_>,
    key: &'static str,
    rules: impl Iterator<Item = &'static str>,
) {
    let mut rules: Vec<&str> = rules.collect();
    rules.sort_unstable();
    rules.dedup();
    if !rules.is_empty() {
        annotations.push_text_member(key, &rules.join(","));
    }
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
        let message = denial_message_with_warnings(&(0..100).map(finding).collect::<Vec<_>>());
        let first = message.lines().next().unwrap();
        assert!(first.len() <= MAX_FIRST_LINE, "{}", first.len());
        assert!(message.len() <= MAX_DENIAL_LENGTH && message.ends_with(" more"), "{}", message.len());
        assert!(message.lines().count() <= MAX_FINDINGS_IN_DENIAL + 2);
    }
}
