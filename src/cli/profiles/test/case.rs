//! One case: its manifest, its expectation, and their comparison.

use super::expected_results::{ExpectedResult, ExpectedResults};
use super::unified_diff::first_hunks;
use crate::cli::input::links_in_directories::why_link_of_repository_is_refused;
use crate::cli::input::{self, InputFlags, SharedFacts};
use crate::cli::lines_on_stderr::write_error;
use crate::cli::review::{Ignores, ReviewOptions, review_document};
use crate::decision_limits::RunBudget;
use crate::pod_agent::{LastLink, open_regular_file};
use crate::report::ci::text_without_runner_commands;
use crate::report::review_text::kind_name_and_template;
use crate::report::{Located, ReviewedObject};
use crate::rules::Finding;
use crate::text::count_with_noun;
use std::collections::{HashMap, HashSet};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
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

/// Longest expectation (bytes).
const MAX_BYTES: u64 = 16 << 20;
/// Findings that nobody expects and that are shown (count).
const MAX_FINDINGS: usize = 100;

/// The bytes of a file; `None` if it does not exist. A change of others may bring an expectation that is a link to a device,
/// which never ends, or to a file of the machine, which `--update` would overwrite.
fn read_regular_file_of_repository(path: &Path) -> Result<Option<Vec<u8>>, String> {
    if why_link_of_repository_is_refused(path).is_some() {
        return Err(
            "the symbolic link leads out of the repository; replace the link by a regular file".to_owned()
        );
    }
    match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && path.is_symlink() => {
            return Err("the symbolic link leads to no file; remove the link".to_owned());
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
        Ok(meta) if !meta.is_file() => return Err("an expectation is a regular file".to_owned()),
        Ok(meta) if meta.len() > MAX_BYTES => return Err("an expectation has at most 16 MiB".to_owned()),
        Ok(_) => {}
    }
    let mut bytes = Vec::new();
    let read = open_regular_file(path, LastLink::Follow)
        .and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes));
    read.map(|_| Some(bytes)).map_err(|error| error.to_string())
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
        (facts, work): (&SharedFacts, &Arc<RunBudget>),
        update: bool,
        err: &mut dyn Write,
    ) -> io::Result<CaseOutcome> {
        if work.is_spent() {
            let message = format!(
                "{}: this case is not tested: the inputs cause far more work than their size explains (many cases with \
                 Kubernetes objects of their own, beside many objects of the cluster, or with links to one long expectation); \
                 test them in several runs",
                self.input.display()
            );
            write_error(err, format_args!("{message}"))?;
            return Ok(CaseOutcome::Unreadable(message));
        }
        let expected = match self.expectation(work) {
            Ok(expected) => expected,
            Err(message) => {
                write_error(err, format_args!("{message}"))?;
                return Ok(CaseOutcome::Unreadable(message));
            }
        };
        let prepared = match input::read_inputs_and_live_cluster(inputs, facts.for_input(), err)? {
            Ok(prepared) => prepared,
            Err(_) => return Ok(CaseOutcome::Unreadable("the case cannot be reviewed".to_owned())),
        };
        facts.spend_work_of_input(&prepared, work);
        let (namespace, mode, profile) = (prepared.namespace, None, prepared.profile);
        let ignores = Ignores::default();
        let setting = ReviewOptions {
            namespace,
            mode,
            profile,
            audience: None,
            ignores,
            why: false,
            work: Arc::clone(work),
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
            write_error(err, format_args!("{message}"))?;
            return Ok(CaseOutcome::Unreadable(message));
        }
        let found =
            ExpectedResults { results: results.iter().map(|result| ExpectedResult::of(result)).collect() };
        if let Some(message) = found.why_too_long("a case", "this one") {
            let message = format!("{}: {message}", self.input.display());
            write_error(err, format_args!("{message}"))?;
            return Ok(CaseOutcome::Unreadable(message));
        }
        let known = expected.unwrap_or_default();
        let found = found.only_fields_given_in(&known);
        if update {
            return self.write_expectation_if_different(&known, &found);
        }
        if !self.expected.exists() {
            let message = format!("{}: no such file; write it with --update", self.expected.display());
            write_error(err, format_args!("{message}"))?;
            return Ok(CaseOutcome::Unreadable(message));
        }
        let (before, after) = (known.sorted(), found.sorted());
        if before == after {
            return Ok(CaseOutcome::Same);
        }
        Ok(CaseOutcome::Different(self.difference(&before, &after, &results)))
    }

    /// The expectation; `None` without a file.
    fn expectation(&self, work: &RunBudget) -> Result<Option<ExpectedResults>, String> {
        let name = self.expected.display().to_string();
        match read_regular_file_of_repository(&self.expected) {
            Ok(Some(text)) => {
                work.spend(text.len());
                ExpectedResults::read(&name, &text, work).map(Some)
            }
            Ok(None) => Ok(None),
            Err(message) => Err(format!("{name}: {message}")),
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
        let hunks = first_hunks(&before.text(), &after.text());
        let mut text = format!(
            "--- {}, expected\n+++ {}, found\n{hunks}",
            text_without_runner_commands(&self.expected.display().to_string()),
            text_without_runner_commands(&self.input.display().to_string())
        );
        let expected = before.first_by_object();
        // The findings of an entry are looked up for each result of its object.
        let mut findings: HashMap<&str, HashSet<&str>> = HashMap::new();
        let mut left_out = 0_usize;
        let mut shown = 0;
        for (result, entry) in results.iter().zip(&after.results) {
            let object = entry.object.as_str();
            let known = expected.get(object).and_then(|known| known.findings.as_deref());
            let known = findings
                .entry(object)
                .or_insert_with(|| known.unwrap_or_default().iter().map(String::as_str).collect());
            let expects = |finding: &Finding| known.contains(ExpectedResult::finding(finding).as_str());
            if entry.findings.is_none() {
                continue;
            }
            for Located { item, .. } in result.findings.iter().filter(|found| !expects(&found.item)) {
                if shown == MAX_FINDINGS {
                    left_out += 1;
                    continue;
                }
                shown += 1;
                let Finding { rule, message, fix, .. } = item;
                text.push_str(&format!(
                    "{}: {rule} {message}\n  fix: {fix}\n",
                    kind_name_and_template(result)
                ));
            }
        }
        if left_out > 0 {
            text.push_str(&format!("{} more\n", count_with_noun(left_out, "finding")));
        }
        text.lines().flat_map(|line| [text_without_runner_commands(line), "\n".to_owned()]).collect()
    }
}
