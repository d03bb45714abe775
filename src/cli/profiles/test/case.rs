//! One case: its manifest, its expectation, and their comparison.

use super::expected_results::{ExpectedResult, ExpectedResults};
use crate::cli::input::{self, InputFlags, ProfilesAndFacts};
use crate::cli::review::{Ignores, ReviewOptions, review_document};
use crate::report::ci::text_without_runner_commands;
use crate::report::review_text::kind_name_and_template;
use crate::report::{Located, ReviewedObject};
use crate::rules::Finding;
use imara_diff::{Algorithm, BasicLineDiffPrinter, Diff, InternedInput, UnifiedDiffConfig};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// How the name of an expectation ends.
pub(super) const EXPECTED: &str = ".expected.yaml";

/// A case.
pub(super) struct Case {
    /// The manifest.
    pub(super) input: PathBuf,
    /// The expectation.
    pub(super) expected: PathBuf,
}

/// The result of a case.
pub(super) enum CaseOutcome {
    /// The results are as expected.
    Same,
    /// The expectation was written.
    Written,
    /// The results differ: a text for a log.
    Different(String),
    /// The manifest or the expectation cannot be read.
    Unreadable(String),
}

impl Case {
    pub(super) fn new(input: PathBuf) -> Self {
        let mut expected = input.with_extension("").into_os_string();
        expected.push(EXPECTED);
        Self { input, expected: expected.into() }
    }

    /// Reviews the manifest, and compares the results or writes them. What cannot be read is explained on `err`.
    pub(super) fn review_and_compare_or_update(
        &self,
        inputs: &InputFlags,
        given: ProfilesAndFacts,
        update: bool,
        err: &mut dyn Write,
    ) -> io::Result<CaseOutcome> {
        let expected = match self.expectation() {
            Ok(expected) => expected,
            Err(message) => {
                writeln!(err, "error: {}", text_without_runner_commands(&message))?;
                return Ok(CaseOutcome::Unreadable(message));
            }
        };
        let prepared = match input::read_inputs_and_live_cluster(inputs, given, err)? {
            Ok(prepared) => prepared,
            Err(_) => return Ok(CaseOutcome::Unreadable("the case cannot be reviewed".to_owned())),
        };
        let (namespace, mode, profile) = (prepared.namespace, None, prepared.profile);
        let ignores = Ignores::default();
        let setting = ReviewOptions {
            namespace,
            mode,
            profile,
            audience: None,
            ignores,
            why: false,
            work: Arc::default(),
            estimate: None,
        };
        let (reviews, problems) = review_document::review_all_documents_and_report_unread(
            &prepared.loaded,
            &setting,
            &prepared.snapshot,
            err,
        )?;
        let unread = prepared.unread.len()
            + problems.unread.len()
            + reviews.iter().map(|r| r.unread.len()).sum::<usize>();
        if unread > 0 {
            return Ok(CaseOutcome::Unreadable("a part of the case cannot be read".to_owned()));
        }
        // An object that is only a fact, without a finding, does not count as a result of the case.
        let counts = |result: &&ReviewedObject| result.template.is_some() || !result.findings.is_empty();
        let results: Vec<&ReviewedObject> =
            reviews.iter().flat_map(|review| &review.results).filter(counts).collect();
        if results.is_empty() {
            let message =
                format!("{}: the case has no pod and no object that a rule checks", self.input.display());
            writeln!(err, "error: {}", text_without_runner_commands(&message))?;
            return Ok(CaseOutcome::Unreadable(message));
        }
        let found =
            ExpectedResults { results: results.iter().map(|result| ExpectedResult::of(result)).collect() };
        let known = expected.unwrap_or_default();
        let found = found.only_fields_given_in(&known);
        if update {
            return self.write_expectation_if_different(&known, &found);
        }
        if !self.expected.exists() {
            let message = format!("{}: no such file; write it with --update", self.expected.display());
            writeln!(err, "error: {}", text_without_runner_commands(&message))?;
            return Ok(CaseOutcome::Unreadable(message));
        }
        let (before, after) = (known.sorted(), found.sorted());
        if before == after {
            return Ok(CaseOutcome::Same);
        }
        Ok(CaseOutcome::Different(self.difference(&before, &after, &results)))
    }

    /// The expectation; `None` without a file.
    fn expectation(&self) -> Result<Option<ExpectedResults>, String> {
        let name = self.expected.display().to_string();
        match std::fs::read(&self.expected) {
            Ok(text) => ExpectedResults::read(&name, &text).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("{name}: {error}")),
        }
    }

    fn write_expectation_if_different(
        &self,
        known: &ExpectedResults,
        found: &ExpectedResults,
    ) -> io::Result<CaseOutcome> {
        if known.sorted() == found.sorted() {
            return Ok(CaseOutcome::Same);
        }
        let old = std::fs::read_to_string(&self.expected).unwrap_or_default();
        let comments: String =
            old.lines().take_while(|l| l.starts_with('#')).flat_map(|l| [l, "\n"]).collect();
        match std::fs::write(&self.expected, format!("{comments}{}", found.text())) {
            Ok(()) => Ok(CaseOutcome::Written),
            Err(error) => Ok(CaseOutcome::Unreadable(format!("{}: {error}", self.expected.display()))),
        }
    }

    /// A unified diff, and the findings that nobody expects, with their fixes.
    fn difference(
        &self,
        before: &ExpectedResults,
        after: &ExpectedResults,
        results: &[&ReviewedObject],
    ) -> String {
        let (old, new) = (before.text(), after.text());
        let lines = InternedInput::new(old.as_str(), new.as_str());
        let mut diff = Diff::compute(Algorithm::Histogram, &lines);
        diff.postprocess_lines(&lines);
        let printer = BasicLineDiffPrinter(&lines.interner);
        let hunks = diff.unified_diff(&printer, UnifiedDiffConfig::default(), &lines).to_string();
        let mut text = format!(
            "--- {}, expected\n+++ {}, found\n{hunks}",
            self.expected.display(),
            self.input.display()
        );
        for (result, entry) in results.iter().zip(&after.results) {
            let known = before.results.iter().find(|known| known.object == entry.object);
            let expects = |finding: &Finding| {
                let line = ExpectedResult::finding(finding);
                known.and_then(|known| known.findings.as_ref()).is_some_and(|known| known.contains(&line))
            };
            if entry.findings.is_none() {
                continue;
            }
            for Located { item, .. } in result.findings.iter().filter(|found| !expects(&found.item)) {
                let Finding { rule, message, fix, .. } = item;
                text.push_str(&format!(
                    "{}: {rule} {message}\n  fix: {fix}\n",
                    kind_name_and_template(result)
                ));
            }
        }
        text.lines().flat_map(|line| [text_without_runner_commands(line), "\n".to_owned()]).collect()
    }
}
