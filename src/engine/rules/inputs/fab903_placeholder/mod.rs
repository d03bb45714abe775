//! FAB903: placeholder of a template that was not replaced.

use super::placeholder::{Placeholder, Syntax};
use crate::rules::finding::{Finding, FindingsOfRule, Severity};
use crate::rules::rule_declaration::{MayBeIgnored, Rule, files};
use crate::text::escaped_and_cut;

pub(super) static RULE: Rule = Rule {
    id: "FAB903",
    severity: Severity::Error,
    lesser: &[(
        Severity::Warning,
        "the API server stores placeholders as text, and no other rule reports an error",
    )],
    files: files!(),
    waiver: MayBeIgnored::File,
    of_files: true,
    ..Rule::DEFAULT
};

/// Why a finding on an object of an unknown kind is only a warning.
const UNKNOWN_KIND: &str = "the kind is not known, so a controller may replace the placeholder";

/// The finding on the placeholders of a file, at the place of one of them. Its severity is `severity`, which is the
/// highest severity of the findings that the placeholders cause, but at least warning. `known` is false if a controller
/// may replace placeholders in objects of this kind; the finding is then a warning.
#[must_use]
pub fn finding_on_placeholders(at: &Placeholder, severity: Severity, known: bool) -> Option<Finding> {
    let mut out = Vec::new();
    let mut findings = FindingsOfRule::new(RULE.id, RULE.severity, &mut out).with_reasons(RULE.lesser);
    let (whose, tools) = match at.syntax() {
        Syntax::Helm => ("Helm ", "helm template"),
        Syntax::Mustache => ("", "its template tool, such as Mustache or Jinja"),
        Syntax::Other => ("", "helm template, envsubst or kustomize build"),
    };
    let message = format!("{whose}placeholder {} was not replaced", escaped_and_cut(&at.text, 60));
    // People write `<name>` for a value that the reader has to fill in.
    let fix = match at.text.starts_with('<') {
        true => "Replace the placeholder with its value, and then review the file.".to_owned(),
        false => format!("Render the file with {tools}, and then review the result."),
    };
    match known {
        true => {
            findings.add_with_severity(severity.max(Severity::Warning), at.pointer.as_str(), message, fix)
        }
        false => findings.with_reason_for_lower_severity(UNKNOWN_KIND).add_with_severity(
            Severity::Warning,
            at.pointer.as_str(),
            message,
            fix,
        ),
    }
    out.pop()
}
