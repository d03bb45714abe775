//! The annotations that ignore findings, and whether they do.

use crate::json::annotations_of_object::AnnotationsOfObject;
use crate::pod::fabric_signs::IGNORE_PREFIX;
use crate::review::Decision;
use crate::rules::find_rule;
use crate::text::escaped_and_cut;
use schemars::JsonSchema;
use serde::Serialize;

/// Whether an annotation ignores something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "State")]
pub enum SuppressionState {
    /// It ignores a finding.
    Used,
    /// It ignores a finding, and the date in its reason is over.
    Expired,
    /// Its finding cannot be ignored.
    NotAllowed,
    /// It has no reason, so it ignores nothing.
    WithoutReason,
    /// It matches no finding.
    Unused,
}

impl SuppressionState {
    /// The state as people read it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Used => "used",
            Self::Expired => "expired",
            Self::NotAllowed => "not allowed",
            Self::WithoutReason => "without a reason",
            Self::Unused => "unused",
        }
    }
}

/// An annotation that ignores findings of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suppression {
    /// Id of the rule, as the annotation has it.
    pub rule: String,
    /// Whether it ignores something.
    pub state: SuppressionState,
    /// The reason.
    pub reason: String,
    /// The date after which it counts as expired (`until=2027-01-31` in the reason).
    pub until: Option<String>,
}

impl Suppression {
    /// Whether somebody should look at it.
    #[must_use]
    pub fn needs_attention(&self) -> bool {
        self.state != SuppressionState::Used
    }
}

/// Longest reason that is kept (characters).
const MAX_REASON: usize = 200;

/// The annotations of an object, by what was decided on it. `today`: the date, as 2027-01-31.
#[must_use]
pub fn suppressions_of_object(json: &str, decision: &Decision, today: &str) -> Vec<Suppression> {
    if !json.contains(IGNORE_PREFIX) {
        return Vec::new();
    }
    let annotated = AnnotationsOfObject::read_or_empty(json);
    let ignoring =
        annotated.iter().filter_map(|(key, value)| Some((key.strip_prefix(IGNORE_PREFIX)?, value)));
    ignoring.filter_map(|(id, value)| suppression_with_state(id, value, decision, today)).collect()
}

fn suppression_with_state(id: &str, value: &str, decision: &Decision, today: &str) -> Option<Suppression> {
    let rule = find_rule(id);
    let is = |found: &str| rule.is_some_and(|rule| rule.id == found);
    let until = value.split_whitespace().find_map(|word| word.strip_prefix("until=")).filter(|d| is_date(d));
    let state = if value.trim().is_empty() {
        SuppressionState::WithoutReason
    } else if decision.suppressed.iter().any(|s| is(s.finding.rule)) {
        // Dates of this form are in the order of their text.
        if until.is_some_and(|until| until < today) {
            SuppressionState::Expired
        } else {
            SuppressionState::Used
        }
    } else if decision.findings.iter().any(|f| is(f.rule)) {
        SuppressionState::NotAllowed
    } else if rule.is_some_and(|rule| rule.at_one_point) {
        // Its findings are of another entry of the webhook.
        return None;
    } else {
        SuppressionState::Unused
    };
    Some(Suppression {
        rule: escaped_and_cut(id, 40),
        state,
        reason: escaped_and_cut(value.trim(), MAX_REASON),
        until: until.map(str::to_owned),
    })
}

fn is_date(text: &str) -> bool {
    text.len() == 10
        && text
            .bytes()
            .enumerate()
            .all(|(at, b)| if at == 4 || at == 7 { b == b'-' } else { b.is_ascii_digit() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::which_findings_annotations_ignore::Suppressed;
    use crate::rules::{Finding, Severity};

    fn finding(rule: &'static str) -> Finding {
        Finding {
            rule,
            severity: Severity::Warning,
            path: String::new(),
            spot: None,
            message: String::new(),
            fix: String::new(),
            because: None,
            other: None,
        }
    }

    #[test]
    fn each_state() {
        let suppressed = vec![Suppressed { finding: finding("FAB501"), reason: String::new() }];
        let decision = Decision { suppressed, findings: vec![finding("FAB416")], ..Decision::default() };
        let state =
            |id: &str, value: &str| suppression_with_state(id, value, &decision, "2026-11-22").unwrap().state;
        assert_eq!(state("FAB501", "small loader"), SuppressionState::Used);
        assert_eq!(state("FAB501", "until=2026-11-21 small loader"), SuppressionState::Expired);
        assert_eq!(state("FAB501", "until=2026-11-22"), SuppressionState::Used);
        assert_eq!(state("FAB501", "until=yesterday"), SuppressionState::Used);
        assert_eq!(state("FAB501", " "), SuppressionState::WithoutReason);
        assert_eq!(state("FAB416", "measured"), SuppressionState::NotAllowed);
        assert_eq!(state("FAB412", "measured"), SuppressionState::Unused);
        assert_eq!(state("FAB99", "measured"), SuppressionState::Unused);
    }
}
