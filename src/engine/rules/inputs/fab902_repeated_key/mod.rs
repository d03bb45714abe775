//! FAB902: key given twice in one YAML mapping.

use crate::rules::finding::{Finding, Findings, Severity};
use crate::rules::rule_declaration::{Rule, Waiver, files};
use crate::text::printable;

/// The rule.
pub static RULE: Rule = Rule {
    id: "FAB902",
    severity: Severity::Warning,
    files: files!(),
    waiver: Waiver::File,
    of_files: true,
    ..Rule::DEFAULT
};

/// The finding on a key that a file repeats in one mapping. The first is on line `first`.
#[must_use]
pub fn repeated_key(path: &str, key: &str, first: u32) -> Option<Finding> {
    let mut out = Vec::new();
    let shown = printable(key, 60);
    Findings::new(RULE.id, RULE.severity, &mut out).add(
        path,
        format!(
            "key \"{shown}\" is given twice in one mapping: kubectl silently drops the value on line {first}"
        ),
        "Remove one of the two keys, or merge their values.",
    );
    out.pop()
}
