//! The report, as programs read it (`fabric-admission.dev/doctor/v1`).

use super::all_checks::CHECKS;
use super::check_declaration::{Check, Section};
use super::check_outcome::Kind;
use super::facts_that_were_read::Facts;
use schemars::JsonSchema;
use serde::Serialize;

/// Name and version of the format.
pub const SCHEMA: &str = "fabric-admission.dev/doctor/v1";

/// The whole report.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Report {
    /// Always `fabric-admission.dev/doctor/v1`.
    schema: &'static str,
    /// Whether no check has the result `error`.
    pub success: bool,
    /// Whether dry runs have shown that the API server calls the webhook, and that the webhook changes and refuses pods.
    /// With `--pre` always false.
    pub proved: bool,
    /// Groups of checks, in their order.
    pub categories: Vec<Category>,
}

/// A group of checks.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Category {
    /// Its title.
    pub name: &'static str,
    /// Its checks, in their order.
    pub checks: Vec<DoctorReportEntry>,
}

/// One check.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Check")]
pub struct DoctorReportEntry {
    /// Id, which stays the same in all versions.
    pub id: &'static str,
    /// Subject of the check.
    pub description: &'static str,
    /// The result.
    pub result: Kind,
    /// The problem and its consequence, the reason for which the check was skipped, or what was found; null if there is
    /// nothing to add.
    pub message: Option<String>,
    /// What to do; null if nothing.
    pub hint: Option<String>,
    /// Page about the check.
    pub page: String,
    /// Whether time may change the result.
    #[serde(skip)]
    pub retryable: bool,
}

impl Report {
    /// Runs the checks before an installation, or those after it.
    #[must_use]
    pub fn run_checks(facts: &Facts, before: bool) -> Self {
        let mut categories: Vec<Category> = Vec::new();
        for check in CHECKS.iter().filter(|check| check.is_for(before)) {
            let entry = DoctorReportEntry::run_check(check, facts);
            let name = check.section.title();
            match categories.last_mut().filter(|last| last.name == name) {
                Some(last) => last.checks.push(entry),
                None => categories.push(Category { name, checks: vec![entry] }),
            }
        }
        let calls = categories.iter().find(|category| category.name == Section::Calls.title());
        let proved =
            calls.is_some_and(|calls| calls.checks.iter().all(|check| check.result == Kind::Success));
        let mut report = Self { schema: SCHEMA, success: true, proved, categories };
        report.success = report.count(Kind::Error) == 0;
        report
    }

    /// All checks.
    pub fn checks(&self) -> impl Iterator<Item = &DoctorReportEntry> {
        self.categories.iter().flat_map(|category| &category.checks)
    }

    /// Checks with a result (count).
    #[must_use]
    pub fn count(&self, kind: Kind) -> usize {
        self.checks().filter(|check| check.result == kind).count()
    }

    /// Failed checks that time may change.
    pub fn failed_retryable_checks(&self) -> impl Iterator<Item = &DoctorReportEntry> {
        self.checks().filter(|check| check.result == Kind::Error && check.retryable)
    }
}

impl DoctorReportEntry {
    /// Runs a check.
    #[must_use]
    pub fn run_check(check: &Check, facts: &Facts) -> Self {
        let outcome = check.run(facts);
        // Messages hold texts of others: names, and answers of the API server.
        let clean = |text: String| crate::text::escaped_and_cut(&text, 1000);
        Self {
            id: check.id,
            description: check.description,
            result: outcome.kind,
            message: outcome.message.filter(|text| !text.is_empty()).map(clean),
            hint: outcome.hint.filter(|text| !text.is_empty()).map(clean),
            page: check.page(),
            retryable: check.retryable,
        }
    }
}
