//! FAB809: object that the webhook needs but cannot read.

use crate::facts::fact_kinds::READABLE;
use crate::facts::{self, Kind};
use crate::rules::crd_fields::is_reported_as_refused;
use crate::rules::finding::{Findings, Severity};
use crate::rules::fix_for_wrong_type;
use crate::rules::object_context::ObjectContext;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB809",
    severity: Severity::Warning,
    files: files!(),
    kinds: READABLE,
    at_one_point: true,
    reads_only: true,
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    let Some(kind) = Kind::of(context.group, context.kind) else { return };
    // FAB366 reports a value that the API server refuses.
    if let Err(error) = facts::check(kind, context.json)
        && !is_reported_as_refused(context, &error.pointer)
    {
        findings.add(
            error.pointer,
            format!(
                "this part of the {} cannot be read ({}): the rest of the object was not checked",
                kind.name(),
                error.message
            ),
            fix_for_wrong_type::fix(&error.message),
        );
    }
}
