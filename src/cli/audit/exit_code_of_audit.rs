//! The exit code of `audit`.

use crate::cli::Exit;
use crate::cli::fail_on_flag::FailOn;
use crate::report::audit::json::AuditDocument;
use crate::report::unread_by_audit::WhyKindIsNotKnown;

/// 3 before 2 before 1. A kind that may not be read is an input that cannot be read, unless a baseline says how far the
/// earlier audit could see: then only a difference counts.
pub(super) fn exit_code_of_audit(document: &AuditDocument, failed: bool, fail_on: FailOn) -> Exit {
    if failed {
        return Exit::Internal;
    }
    let closed = document
        .gaps
        .iter()
        .any(|gap| matches!(gap.cause, WhyKindIsNotKnown::Forbidden | WhyKindIsNotKnown::OtherVersion));
    let unreadable = !document.errors.is_empty() || closed && document.comparison.is_none();
    match &document.comparison {
        None => Exit::of_worst_finding(unreadable, document.worst_severity(), fail_on),
        Some(comparison) => {
            let exit = Exit::of_worst_finding(unreadable, comparison.worst_new_severity(), fail_on);
            let fails = exit == Exit::Clean && fail_on != FailOn::Never;
            if fails && !comparison.incomparable.is_empty() { Exit::Findings } else { exit }
        }
    }
}
