//! A review as people and programs read it.

pub mod json;
pub mod policies;
pub mod profiles_page;
pub mod reserved;
pub mod rules_page;
pub mod text;
pub mod why;

use crate::facts::Mode;
use crate::resolve::why::Why;
use crate::review::Decision;
use crate::rules::suppression::Suppressed;
use crate::rules::{Finding, Severity};
use std::borrow::Cow;

/// The message of a finding for a reader of the file: if the profile sets the value at its place, the message says so,
/// since the file does not contain it. The webhook does not add this, so that both of its entries warn in the same words.
#[must_use]
pub fn message<'a>(decision: &Decision, finding: &'a Finding) -> Cow<'a, str> {
    match decision.profile.as_deref().filter(|_| decision.plan.adds(&finding.path)) {
        Some(name) if !finding.message.contains(name) => {
            format!("set by profile {name}: {}", finding.message).into()
        }
        _ => Cow::Borrowed(&finding.message),
    }
}

/// Place of an object in the input.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Source {
    /// File as given, `<stdin>` for standard input.
    pub file: String,
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
}

/// The review of one object: a pod template, or an object of its own.
#[derive(Debug)]
pub struct Reviewed {
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
    /// Pointer of the pod template; empty for a pod itself, `None` for the object's own findings.
    pub template: Option<String>,
    /// Whether the namespace opted in.
    pub opted_in: bool,
    /// Mode it was reviewed under.
    pub mode: Mode,
    /// The decision, without its findings.
    pub decision: Decision,
    /// Findings, most severe first.
    pub findings: Vec<Located<Finding>>,
    /// Findings that annotations set aside.
    pub suppressed: Vec<Located<Suppressed>>,
    /// Names of the pod's app containers, in their order.
    pub containers: Vec<String>,
    /// How its profile was found, where that is asked for.
    pub why: Option<Why>,
}

impl Reviewed {
    /// Severity of its most severe finding.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|f| f.item.severity).max()
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
pub struct Unread {
    /// File as given.
    pub file: String,
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
    /// Denied results.
    pub denied: usize,
    /// Results with a warning and no error.
    pub warned: usize,
    /// Results that are changed.
    pub mutated: usize,
}

impl Summary {
    /// Counts a result in.
    pub fn count(&mut self, reviewed: &Reviewed) {
        self.results += 1;
        let worst = reviewed.worst();
        self.denied += usize::from(reviewed.decision.denied);
        self.warned += usize::from(worst == Some(Severity::Warning));
        self.mutated += usize::from(!reviewed.decision.patch.is_empty());
    }
}
