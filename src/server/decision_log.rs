//! One line of the log for a decision, with all that is needed to find the author of the object.

use super::metrics::{entry_name, mode_name};
use crate::plan::ChangeKind;
use crate::review::admission_response::{MAX_EVIDENCE_LENGTH, MAX_PROFILE_NAMES_LENGTH};
use crate::review::decide_webhook_request::{Answer, WebhookEntry};
use crate::review::{RequestNames, Verdict};
use crate::rules::Severity;
use crate::telemetry::DecisionLineLimit;
use crate::text::escaped_and_cut;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Duration;

/// Which decisions are logged (`--log-decisions`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LogDecisions {
    /// Every decision.
    All,
    /// Objects that were changed, denied, or would be denied if this endpoint enforced.
    #[default]
    Notable,
    /// None.
    None,
}

/// One line and its limit. A request out of scope is read again for its names, and only if its line is written.
pub(super) fn log_decision_if_wanted(
    which: LogDecisions,
    answer: &Answer,
    body: &[u8],
    verdict: Verdict,
    took: Duration,
) {
    // Each message has a limit of its own, so that a wave of changed pods hides no denial.
    let (message, lines, notable) = match verdict {
        Verdict::Denied => ("request denied", &DENIED, true),
        Verdict::WouldDeny => ("request would be denied", &WOULD_DENY, true),
        Verdict::Mutated => ("pod changed", &CHANGED, true),
        Verdict::Withheld => ("request allowed, changes withheld", &OTHER, false),
        Verdict::Allowed => ("request allowed", &OTHER, false),
        Verdict::OutOfScope => ("request out of scope", &OTHER, false),
    };
    let wanted = match which {
        LogDecisions::All => true,
        LogDecisions::Notable => notable,
        LogDecisions::None => false,
    };
    if !wanted || !lines.admit_or_count_left_out() {
        return;
    }
    let names = answer.names.as_ref().map_or_else(|| Cow::Owned(RequestNames::of_body(body)), Cow::Borrowed);
    let RequestNames { namespace, kind, name, owner, user } = &*names;
    let decision = &answer.decision;
    let rules = |severity| -> String {
        let found: BTreeSet<&str> =
            decision.findings.iter().filter(|f| f.severity == severity).map(|f| f.rule).collect();
        found.into_iter().collect::<Vec<_>>().join(" ")
    };
    // The other entries plan the same changes again, or those that are made already.
    let plans = matches!(answer.entry, WebhookEntry::Mutate | WebhookEntry::Audit);
    let changes = decision.plan.changes.iter().filter(|_| plans).map(|c| &c.edit);
    let text = |text: Option<&str>, most| escaped_and_cut(text.unwrap_or_default(), most);
    tracing::info!(
        target: DecisionLineLimit::TARGET,
        uid = text(Some(&answer.uid), 64),
        entry = entry_name(answer.entry),
        mode = mode_name(answer.entry.mode()),
        namespace,
        kind,
        name,
        owner,
        user,
        profile = text(decision.profile.as_deref(), MAX_PROFILE_NAMES_LENGTH),
        evidence = text(decision.evidence.as_deref(), MAX_EVIDENCE_LENGTH),
        also_held = text(Some(&decision.also_held.join(" ")), MAX_PROFILE_NAMES_LENGTH),
        rules = rules(Severity::Error),
        warnings = rules(Severity::Warning),
        changes = %ChangeKind::counts(changes),
        duration_seconds = took.as_secs_f64(),
        "{message}"
    );
}

static DENIED: DecisionLineLimit = DecisionLineLimit::new();
static WOULD_DENY: DecisionLineLimit = DecisionLineLimit::new();
static CHANGED: DecisionLineLimit = DecisionLineLimit::new();
static OTHER: DecisionLineLimit = DecisionLineLimit::new();
