//! FAB809: object that the webhook needs but cannot read.

use super::texts_too_long_for_rules::texts_too_long_for_rules;
use crate::facts::fact_kinds::KINDS_THAT_ARE_ONLY_FACTS;
use crate::facts::{self, FactKind};
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::fix_for_decode_error;
use crate::rules::object_context::ObjectContext;
use crate::rules::report_fields_crd_refuses::is_reported_as_refused;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB809",
    severity: Severity::Warning,
    files: files!(),
    kinds: KINDS_THAT_ARE_ONLY_FACTS,
    at_one_point: true,
    reads_only: true,
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let Some(kind) = FactKind::of(context.group, context.kind) else { return };
    for (pointer, why) in texts_too_long_for_rules(context) {
        findings.add(
            pointer,
            format!(
                "this part of the {} is too long ({why}): rules that need all of it report nothing",
                kind.name()
            ),
            "Remove the entries that are not needed, or divide them among more objects.",
        );
    }
    // FAB366 reports a value that the API server refuses.
    if let Err(error) = facts::check_object_is_readable(kind, context.json)
        && !is_reported_as_refused(context, &error.pointer)
    {
        findings.add(
            error.pointer,
            format!(
                "this part of the {} cannot be read ({}): the rest of the object was not checked",
                kind.name(),
                error.message
            ),
            fix_for_decode_error::fix_for_decode_error(&error.message),
        );
    }
}
