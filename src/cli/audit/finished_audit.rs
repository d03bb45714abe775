//! A finished audit: results of pods under the workloads that made them, and objects that could not be read.

use super::decide_and_add_up::{AuditContext, AuditResults};
use crate::cli::lines_on_stderr::write_error;
use crate::report::UnreadInput;
use crate::report::audit::json::{AuditDocument, AuditScopeAndGaps};
use crate::report::finding_identity_for_baselines::ObjectName;
use crate::report::unread_by_audit::WhyKindIsNotKnown;
use crate::text::{count_with_noun, escaped_and_cut};
use std::io::{self, Write};

/// A finished audit.
pub(in crate::cli) struct FinishedAudit {
    pub(in crate::cli) document: AuditDocument,
    /// Whether a list failed for another reason than that it may not be read.
    pub(in crate::cli) failed: bool,
}

impl FinishedAudit {
    pub(super) fn finish_and_report_unreadable(
        mut results: AuditResults,
        mut frame: AuditScopeAndGaps,
        judge: &AuditContext<'_>,
        err: &mut dyn Write,
    ) -> io::Result<Self> {
        // A pod that owns others is of the workload that made it.
        let pods: Vec<ObjectName> =
            results.tallies.workloads.keys().filter(|name| name.kind == "Pod").cloned().collect();
        for pod in pods {
            if let Some(top) = judge.owners.top_owner_if_name_is_known(&pod) {
                results.tallies.move_results_to_workload(&pod, top);
            }
        }
        let failed = frame.gaps.iter().any(|gap| gap.cause == WhyKindIsNotKnown::Failed);
        let first = frame.errors.len();
        let unread = |file: String, message| UnreadInput { file: file.into(), line: 1, column: 1, message };
        frame.errors.extend(results.unreadable.iter().map(|(object, reason)| {
            let place = object.namespace.as_deref().map(|name| format!("{name}/")).unwrap_or_default();
            unread(format!("{} {place}{}", object.kind, object.name_or_generate_name()), reason.clone())
        }));
        if results.unreadable_more > 0 {
            let more = count_with_noun(results.unreadable_more, "more object");
            frame.errors.push(unread("(not listed)".to_owned(), format!("{more} cannot be read")));
        }
        for UnreadInput { file, message, .. } in frame.errors.iter().skip(first) {
            write_error(
                err,
                format_args!("{}: {}", escaped_and_cut(file, 400), escaped_and_cut(message, 400)),
            )?;
        }
        Ok(Self {
            document: AuditDocument::sum_up_and_order(&results.tallies, frame, judge.snapshot),
            failed,
        })
    }
}
