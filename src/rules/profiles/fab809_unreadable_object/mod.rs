//! FAB809: an object that other decisions ask for cannot be read.

use crate::facts::kind::READABLE;
use crate::facts::{self, Kind};
use crate::rules::finding::{Findings, Severity};
use crate::rules::object::ObjectContext;
use crate::rules::rule::{Rule, files};

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
    if let Err(error) = facts::check(kind, context.json) {
        findings.add(
            error.pointer,
            format!("{} cannot be read as a fact: {}; what it says is unknown", kind.name(), error.message),
            "give the value the type that the kind's schema wants",
        );
    }
}
