//! What reports show: reviewed objects with their findings and places, what was skipped, and the counts of a review.

use super::baseline_comparison_while_reviewing::BaselineState;
use crate::facts::EnforcementMode;
use crate::resolve::explain_resolution::ResolutionExplanation;
use crate::review::Decision;
use crate::rules::which_findings_annotations_ignore::Suppressed;
use crate::rules::{Finding, NO_PROFILE, Severity};
use std::sync::Arc;

/// Place of an object in the input.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Source {
    /// File as given, `<stdin>` for standard input.
    pub file: Arc<str>,
    /// Number of the document in its file, from 0.
    pub document: usize,
    /// Line of the object, from 1.
    pub line: u32,
    /// JSON pointer of the object in its document; not empty for items of a List and AdmissionReviews.
    pub pointer: String,
}

/// Line and column, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Line.
    pub line: u32,
    /// Column, in characters.
    pub column: u32,
}

/// Something with its place in the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located<T> {
    /// What stands there.
    pub item: T,
    /// Where.
    pub place: Place,
    /// The same again, which is not reported by itself (count): from one YAML anchor, or with other objects.
    pub repeats: usize,
    /// What a baseline says about it; `None` without a baseline.
    pub baseline: Option<BaselineState>,
}

impl<T> Located<T> {
    /// Whether a baseline has it.
    #[must_use]
    pub fn is_in_baseline(&self) -> bool {
        self.baseline == Some(BaselineState::Unchanged)
    }

    /// Something at its place, reported once.
    pub fn new(item: T, place: Place) -> Self {
        Self { item, place, repeats: 0, baseline: None }
    }
}

impl Located<Finding> {
    /// Whether it makes a command fail that fails from this severity. A finding of the baseline does not.
    #[must_use]
    pub fn does_fail_command(&self, least: Option<Severity>) -> bool {
        !self.is_in_baseline() && least.is_some_and(|least| self.item.severity >= least)
    }
}

/// Findings of a result that are reported with an earlier one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Repeated {
    /// Number of them.
    pub count: usize,
    /// The most severe one. It counts for the verdict.
    pub worst: Option<Severity>,
}

impl Repeated {
    /// Counts a finding in.
    pub fn count_finding(&mut self, severity: Severity) {
        self.add(Self { count: 1, worst: Some(severity) });
    }

    /// Counts several in.
    pub fn add(&mut self, other: Self) {
        self.count += other.count;
        self.worst = self.worst.max(other.worst);
    }
}

/// The review of one object: a pod template, or an object of its own.
#[derive(Debug)]
pub struct ReviewedObject {
    /// Its place in the input.
    pub source: Source,
    /// `apiVersion` of the object that was applied.
    pub api_version: String,
    /// `kind` of it.
    pub kind: String,
    /// Namespace; `None` for kinds without one.
    pub namespace: Option<String>,
    /// `metadata.name`.
    pub name: Option<String>,
    /// `metadata.generateName`.
    pub generate_name: Option<String>,
    /// Where the object starts in the JSON of its document (bytes).
    pub start: usize,
    /// Where its text, or that of its template, is in the JSON of its document; `None` for a corrected text.
    pub part: Option<std::ops::Range<usize>>,
    /// Pointer of the pod template; empty for a pod itself, `None` for the object's own findings.
    pub template: Option<String>,
    /// Whether the namespace opted in.
    pub opted_in: bool,
    /// Mode it was reviewed under.
    pub mode: EnforcementMode,
    /// The decision, without its findings.
    pub decision: Decision,
    /// Findings, most severe first.
    pub findings: Vec<Located<Finding>>,
    /// Findings that are reported with an earlier result.
    pub repeated: Repeated,
    /// Findings that the caller's filters leave out (count). They count for the verdict and the exit code.
    pub not_shown: usize,
    /// Findings that annotations set aside.
    pub suppressed: Vec<Located<Suppressed>>,
    /// Findings that the caller's configuration sets aside. They count for the verdict, which is the webhook's, and not for
    /// the exit code.
    pub waived: Vec<Located<Suppressed>>,
    /// Names of the pod's app containers, in their order.
    pub containers: Vec<String>,
    /// How its profile was found, where that is asked for.
    pub why: Option<ResolutionExplanation>,
}

impl ReviewedObject {
    /// Severity of its most severe finding, those reported with an earlier result included.
    #[must_use]
    pub fn worst_severity(&self) -> Option<Severity> {
        self.findings.iter().map(|f| f.item.severity).max().max(self.repeated.worst)
    }

    /// Severity of the most severe finding that a baseline does not have. A finding that is reported with an earlier
    /// result is counted there.
    #[must_use]
    pub fn worst_severity_not_in_baseline(&self) -> Option<Severity> {
        self.findings.iter().filter(|found| !found.is_in_baseline()).map(|found| found.item.severity).max()
    }

    /// Adds findings on the text of the file, and computes the verdict again.
    pub fn add_findings_and_recompute_verdict(&mut self, found: impl IntoIterator<Item = Located<Finding>>) {
        let before = self.findings.len();
        self.findings.extend(found);
        let opted_in = self.opted_in;
        for added in self.findings.iter_mut().skip(before).filter(|_| !opted_in) {
            added.item.cap_at_info_without_opt_in();
        }
        self.findings.sort_by_key(|f| std::cmp::Reverse(f.item.severity));
        self.recompute_verdict();
    }

    /// Sets the verdict by the findings.
    pub fn recompute_verdict(&mut self) {
        let waived = self.waived.iter().map(|waived| waived.item.finding.severity).max();
        self.decision.set_verdict_and_drop_denied_changes(
            self.worst_severity().max(waived) == Some(Severity::Error),
            self.mode,
        );
    }
}

/// A skipped object.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Skipped {
    /// Its place in the input.
    pub source: Source,
    /// Reason.
    pub reason: String,
}

/// An error of an unreadable input.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[schemars(rename = "Unread")]
pub struct UnreadInput {
    /// File as given.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// Error message.
    pub message: String,
}

/// Counts of a whole review.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Summary {
    /// Documents with content.
    pub documents: usize,
    /// Pod templates and objects that were reviewed.
    pub results: usize,
    /// Skipped objects.
    pub skipped: usize,
    /// Errors of unreadable inputs; one input can have several.
    pub errors: usize,
    /// Inputs (files, or standard input) with such an error.
    pub unreadable: usize,
    /// Whether an input, or a part of one, could not be read. Then the counts and results are those of the rest.
    pub partial: bool,
    /// Denied results.
    pub denied: usize,
    /// Results with a warning and no error.
    pub warned: usize,
    /// Results that are changed.
    pub mutated: usize,
    /// Pods and pod templates that request accelerators and match no profile (FAB803).
    #[serde(rename = "withoutProfile")]
    pub without_profile: usize,
}

impl Summary {
    /// Counts a result in.
    pub fn count_result(&mut self, reviewed: &ReviewedObject) {
        self.results += 1;
        let worst = reviewed.worst_severity();
        self.denied += usize::from(reviewed.decision.denied);
        self.warned += usize::from(worst == Some(Severity::Warning));
        self.mutated += usize::from(!reviewed.decision.patch.is_empty());
        let without = reviewed.findings.iter().any(|f| f.item.rule == NO_PROFILE.id);
        self.without_profile += usize::from(without);
    }
}
