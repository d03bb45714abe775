//! FAB815: annotation to ignore a finding has no effect.

use crate::rules::finding::Severity;
use crate::rules::rule_declaration::{MayBeIgnored, Rule, files};

/// Its findings are made where the annotations are applied: `rules/which_findings_annotations_ignore.rs`.
pub(in crate::rules) static RULE: Rule = Rule {
    id: "FAB815",
    severity: Severity::Warning,
    lesser: &[(Severity::Info, "the rule may report a finding after a change in the cluster")],
    files: files!(),
    waiver: MayBeIgnored::Itself,
    ..Rule::DEFAULT
};
