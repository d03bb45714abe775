//! The findings of a review by rule: what a reader of thousands of them reads first.

use super::Located;
use crate::rules::{Finding, Severity, find_rule};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Counts of findings by rule and severity.
#[derive(Debug, Clone, Default)]
pub struct ByRule(BTreeMap<(Reverse<Severity>, &'static str), usize>);

/// The findings of one rule and one severity.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct RuleCount {
    /// Id of the rule.
    pub rule: &'static str,
    /// `error`, `warning` or `info`.
    pub severity: Severity,
    /// Number of findings, with their repetitions.
    pub count: usize,
    /// Summary of the rule.
    pub summary: String,
}

impl ByRule {
    /// Counts a finding in, with its repetitions.
    pub fn add_finding(&mut self, found: &Located<Finding>) {
        let Finding { rule, severity, .. } = &found.item;
        *self.0.entry((Reverse(*severity), rule)).or_default() += 1 + found.repeats;
    }

    /// The most severe first, then the most frequent.
    #[must_use]
    pub fn rows(&self) -> Vec<RuleCount> {
        let row =
            |((Reverse(severity), rule), count): (&(Reverse<Severity>, &'static str), &usize)| RuleCount {
                rule,
                severity: *severity,
                count: *count,
                summary: find_rule(rule).map(|rule| rule.page().summary).unwrap_or_default(),
            };
        let mut rows: Vec<RuleCount> = self.0.iter().map(row).collect();
        rows.sort_by_key(|row| (Reverse(row.severity), Reverse(row.count), row.rule));
        rows
    }
}
