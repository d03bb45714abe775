//! The order of the findings of a decision, in reports and in the answers of the webhook.

use crate::rules::Finding;
use std::cmp::Reverse;

/// Puts the most severe findings first. Those of one severity keep the order of their rules.
pub(super) fn most_severe_first(findings: &mut [Finding]) {
    findings.sort_by_key(|finding| Reverse(finding.severity));
}
