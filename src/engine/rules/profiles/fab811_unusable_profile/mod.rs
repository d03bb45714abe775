//! FAB811: FabricProfile with an invalid value.

use crate::profile::Profile;
use crate::rules::finding::{FindingsOfRule, Severity};
use crate::rules::fix_for_decode_error;
use crate::rules::object_context::ObjectContext;
use crate::rules::object_kinds::FABRIC_PROFILE;
use crate::rules::rule_declaration::{Rule, files};

pub(super) static RULE: Rule = Rule {
    id: "FAB811",
    severity: Severity::Error,
    files: files!(no_example: "review reports such a file as an input error"),
    kinds: &[FABRIC_PROFILE],
    at_one_point: true,
    reads_only: true,
    object: Some(check),
    ..Rule::DEFAULT
};

fn check(context: &ObjectContext<'_>, findings: &mut FindingsOfRule<'_>) {
    let (pointer, message) = match context.profile() {
        Err(error) => (error.pointer.clone(), error.message.clone()),
        Ok(profile) => match Profile::checked_with_base(profile, context.snapshot.bases()) {
            Err(error) => (error.pointer, error.message),
            Ok(_) => return,
        },
    };
    // A warning does not show the pointer.
    let field = pointer.trim_start_matches('/').replace('/', ".");
    let at = if field.is_empty() { String::new() } else { format!(" at {field}") };
    let fix = match message.starts_with("unknown ") || message.starts_with("invalid type") {
        true => fix_for_decode_error::fix_for_decode_error(&message),
        false => "Correct the value, and apply the profile again.".to_owned(),
    };
    findings.add(pointer, format!("invalid profile{at}: {message}"), fix);
}
