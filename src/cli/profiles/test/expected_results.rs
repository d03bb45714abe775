//! The expected results of a case, as a file has them.

use crate::decision_limits::RunBudget;
use crate::json::decode_with_place;
use crate::manifest::{self, DocumentOrError, to_yaml};
use crate::plan::Edit;
use crate::profile::INJECTED_ANNOTATION;
use crate::report::ReviewedObject;
use crate::report::review_text::kind_name_and_template;
use crate::rules::Finding;
use crate::text::escaped_and_cut;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::HashMap;

/// Most results of a case (count). YAML aliases make many of a short file, and each takes some hundred bytes.
const MAX_RESULTS: usize = 100_000;

/// Results in the order of the manifest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExpectedResults {
    pub(super) results: Vec<ExpectedResult>,
}

/// The result for a pod, a pod template or another object. A key that is absent is not compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExpectedResult {
    /// Kind, namespace, name, and the place of the template.
    pub(super) object: String,
    /// Profile; null if the pod gets none.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    profile: Option<Option<String>>,
    /// The verdict in the mode of the namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
    /// Changes, in the words of a review.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    changes: Option<Vec<String>>,
    /// Findings: rule, severity and path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) findings: Option<Vec<String>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Allow,
    Deny,
}

/// A key that is present, also with null.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

impl ExpectedResults {
    /// Reads a file. Links give many cases one expectation, and YAML aliases make it longer than its file.
    pub(super) fn read(name: &str, text: &[u8], work: &RunBudget) -> Result<Self, String> {
        let mut items = manifest::read_documents_of_file(name, text).into_iter();
        let document = match (items.next(), items.next()) {
            (Some(DocumentOrError::Document(document)), None) => document,
            (Some(DocumentOrError::Error(error)), _) => return Err(error.to_string()),
            (_, Some(_)) => return Err(format!("{name}: expected one document")),
            (Some(DocumentOrError::Empty { .. }) | None, None) => return Err(format!("{name}: no document")),
        };
        if let Some(twice) = document.warnings.first() {
            let place = twice.second;
            return Err(format!("{name}:{}:{}: duplicate key {:?}", place.line, place.column, twice.key));
        }
        work.spend(document.json.get().len());
        let fault = |pointer: &str, message: &str| {
            let place = document.position_at_or_above_pointer(pointer);
            format!("{name}:{}:{}: {pointer}: {message}", place.line, place.column)
        };
        let read: Self = decode_with_place::decode_object(document.json.get())
            .map_err(|error| fault(&error.pointer, &error.message))?;
        match read.why_too_long("an expectation", "this one") {
            Some(message) => Err(fault("/results", &message)),
            None => Ok(read),
        }
    }

    /// Why there are too many results, if there are.
    pub(super) fn why_too_long(&self, what: &str, this: &str) -> Option<String> {
        let results = self.results.len();
        (results > MAX_RESULTS).then(|| {
            format!(
                "{what} has at most {MAX_RESULTS} results, and {this} has {results}; write several cases with fewer objects"
            )
        })
    }

    /// The first entry of each object. An expectation and its case may each have 100,000 entries.
    pub(super) fn first_by_object(&self) -> HashMap<&str, &ExpectedResult> {
        let mut first = HashMap::with_capacity(self.results.len());
        for entry in &self.results {
            first.entry(entry.object.as_str()).or_insert(entry);
        }
        first
    }

    /// The same results, without the keys that the entry for the same object in `other` leaves out.
    pub(super) fn only_fields_given_in(self, other: &Self) -> Self {
        let others = other.first_by_object();
        let masked = |entry: ExpectedResult| {
            let Some(known) = others.get(entry.object.as_str()) else {
                return entry;
            };
            ExpectedResult {
                profile: entry.profile.filter(|_| known.profile.is_some()),
                verdict: entry.verdict.filter(|_| known.verdict.is_some()),
                changes: entry.changes.filter(|_| known.changes.is_some()),
                findings: entry.findings.filter(|_| known.findings.is_some()),
                ..entry
            }
        };
        Self { results: self.results.into_iter().map(masked).collect() }
    }

    /// The same with sorted lists: the order of changes and findings is not compared.
    pub(super) fn sorted(&self) -> Self {
        let mut sorted = self.clone();
        for entry in &mut sorted.results {
            entry.changes.iter_mut().chain(&mut entry.findings).for_each(|list| list.sort());
        }
        sorted
    }

    /// The text of a file.
    pub(super) fn text(&self) -> String {
        serde_json::to_value(self).map(|value| to_yaml(&value)).unwrap_or_default()
    }
}

impl ExpectedResult {
    /// The entry of a result.
    pub(super) fn of(result: &ReviewedObject) -> Self {
        let decision = &result.decision;
        let changes = decision.plan.changes.iter().filter(|change| {
            // Its fingerprint would change with every setting of the profile.
            !matches!(&change.edit, Edit::Annotation { key, .. } if key == INJECTED_ANNOTATION)
        });
        let changes = changes.map(|change| {
            let owner = change.edit.container().and_then(|at| result.containers.get(at));
            let owner = owner.map(|name| format!("{name}: ")).unwrap_or_default();
            escaped_and_cut(&format!("{owner}{}", change.edit.summary()), 4_000)
        });
        // Only pods have a profile.
        let pod = result.template.as_ref();
        Self {
            object: kind_name_and_template(result),
            profile: pod.map(|_| decision.profile.clone()),
            verdict: Some(if decision.denied { Verdict::Deny } else { Verdict::Allow }),
            changes: pod.map(|_| changes.collect()),
            findings: Some(result.findings.iter().map(|found| Self::finding(&found.item)).collect()),
        }
    }

    /// A finding by what stays the same from version to version: not its message.
    pub(super) fn finding(finding: &Finding) -> String {
        format!("{} {} {}", finding.rule, finding.severity, finding.path).trim_end().to_owned()
    }
}
