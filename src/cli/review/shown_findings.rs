//! `--rule` and `--severity`: which findings are shown. They change neither verdicts nor the exit code.

use crate::report::ReviewedObject;
use crate::rules::{self, Finding, RULES, Severity};
use crate::text::nearest_if_probably_meant;
use clap::ValueEnum;

/// Lowest severity that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum LeastSeverity {
    Error,
    Warning,
    Info,
}

impl LeastSeverity {
    /// The default of `--severity`.
    pub(super) const DEFAULT: Self = Self::Info;
}

/// The findings that are shown.
#[derive(Clone)]
pub(super) struct FindingFilter {
    /// Ids of rules; empty for all.
    pub(super) rules: Vec<&'static str>,
    pub(super) severity: Severity,
}

impl FindingFilter {
    pub(super) fn new(rules: &[&'static str], least: LeastSeverity) -> Self {
        let severity = match least {
            LeastSeverity::Error => Severity::Error,
            LeastSeverity::Warning => Severity::Warning,
            LeastSeverity::Info => Severity::Info,
        };
        Self { rules: rules.to_vec(), severity }
    }

    /// Whether it selects a finding.
    pub(super) fn shows(&self, finding: &Finding) -> bool {
        finding.severity >= self.severity && (self.rules.is_empty() || self.rules.contains(&finding.rule))
    }

    /// Leaves out the findings that are not shown, and counts them.
    pub(super) fn drop_what_filter_hides(&self, reviewed: &mut ReviewedObject) {
        if self.rules.is_empty() && self.severity == Severity::Info {
            return;
        }
        let before = reviewed.findings.len();
        reviewed.findings.retain(|found| self.shows(&found.item));
        reviewed.not_shown = before - reviewed.findings.len();
        reviewed.suppressed.retain(|found| self.shows(&found.item.finding));
        reviewed.waived.retain(|found| self.shows(&found.item.finding));
    }
}

/// The id of a rule on the command line.
pub(super) fn parse_rule_id(text: &str) -> Result<&'static str, String> {
    if let Some(rule) = rules::find_rule(text) {
        return Ok(rule.id);
    }
    let near = nearest_if_probably_meant(&text.to_ascii_uppercase(), RULES.iter().map(|rule| rule.id));
    Err(match near {
        Some(near) => format!("unknown rule; did you mean {near}?"),
        None => "unknown rule; fabric-admission rules list shows all rules".to_owned(),
    })
}
