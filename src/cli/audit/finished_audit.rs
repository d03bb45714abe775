//! A finished audit: results of pods under the workloads that made them, and objects that could not be read.

use super::decide_and_add_up::{Judge, Results};
use crate::report::Unread;
use crate::report::audit::json::{Document, Frame};
use crate::report::finding_identity_for_baselines::ObjectName;
use crate::report::unread_by_audit::Cause;
use crate::text::{count, printable};
use std::io::{self, Write};

/// A finished audit.
pub(in crate::cli) struct Audited {
    pub(in crate::cli) document: Document,
    /// Whether a list failed for another reason than that it may not be read.
    pub(in crate::cli) failed: bool,
}

impl Audited {
    pub(super) fn new(
        mut results: Results,
        mut frame: Frame,
        judge: &Judge<'_>,
        err: &mut dyn Write,
    ) -> io::Result<Self> {
        // A pod that owns others is of the workload that made it.
        let pods: Vec<ObjectName> =
            results.tallies.workloads.keys().filter(|name| name.kind == "Pod").cloned().collect();
        for pod in pods {
            if let Some(top) = judge.owners.top_of_name(&pod) {
                results.tallies.move_results_to_workload(&pod, top);
            }
        }
        let failed = frame.gaps.iter().any(|gap| gap.cause == Cause::Failed);
        let first = frame.errors.len();
        let unread = |file, message| Unread { file, line: 1, column: 1, message };
        frame.errors.extend(results.unreadable.iter().map(|(object, reason)| {
            let place = object.namespace.as_deref().map(|name| format!("{name}/")).unwrap_or_default();
            unread(format!("{} {place}{}", object.kind, object.shown()), reason.clone())
        }));
        if results.unreadable_more > 0 {
            let more = count(results.unreadable_more, "more object");
            frame.errors.push(unread("(not listed)".to_owned(), format!("{more} cannot be read")));
        }
        for Unread { file, message, .. } in frame.errors.iter().skip(first) {
            writeln!(err, "error: {}: {}", printable(file, 400), printable(message, 400))?;
        }
        Ok(Self { document: Document::new(&results.tallies, frame, judge.snapshot), failed })
    }
}
