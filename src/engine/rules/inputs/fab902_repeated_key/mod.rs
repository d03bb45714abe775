//! FAB902: key given twice in one YAML mapping.

use crate::rules::finding::{Finding, FindingsOfRule, Severity};
use crate::rules::rule_declaration::{MayBeIgnored, Rule, files};
use crate::text::escaped_and_cut;

/// The rule.
pub static RULE: Rule = Rule {
    id: "FAB902",
    severity: Severity::Warning,
    files: files!(),
    waiver: MayBeIgnored::File,
    of_files: true,
    ..Rule::DEFAULT
};

/// The finding on a key that a file repeats in one mapping. The first is on line `first`.
#[must_use]
pub fn finding_on_repeated_key(path: &str, key: &str, first: u32) -> Option<Finding> {
    let mut out = Vec::new();
    let shown = escaped_and_cut(key, 60);
    FindingsOfRule::new(RULE.id, RULE.severity, &mut out).add(
        path,
        format!(
            "key \"{shown}\" is given twice in one mapping: kubectl silently drops the value on line {first}"
        ),
        "Remove one of the two keys, or merge their values.",
    );
    out.pop()
}
