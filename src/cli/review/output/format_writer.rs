//! A format's share of the work, and what all formats get.

use crate::cli::input::LoadedFile;
use crate::cli::review::document_results::DocumentReview;
use crate::manifest::Document;
use crate::report::baseline_comparison::Comparison;
use crate::report::source_line_snippet::LinesOfFile;
use crate::report::{ReviewedObject, Skipped, Summary, UnreadInput};
use crate::rules::Severity;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::Arc;

/// One document and its results.
#[derive(Clone, Copy)]
pub(super) struct DocumentToWrite<'a> {
    pub(super) file: &'a LoadedFile,
    pub(super) document: &'a Document,
    pub(super) review: &'a DocumentReview,
    /// The text of the file.
    pub(super) lines: &'a LinesOfFile<'a>,
    /// Lowest severity with which the command fails.
    pub(super) fails: Option<Severity>,
}

impl<'a> DocumentToWrite<'a> {
    /// The results that have a patch.
    pub(super) fn results_with_patch(&self) -> Vec<&'a ReviewedObject> {
        self.review.results.iter().filter(|r| !r.decision.patch.is_empty()).collect()
    }
}

/// Where a format is written. The type is known, so that the many short writes of a result only copy.
pub(super) type Sink<'w> = io::BufWriter<Box<dyn Write + 'w>>;

/// A format.
pub(super) trait FormatWriter {
    fn write_begin(&mut self, _: &mut Sink<'_>) -> io::Result<()> {
        Ok(())
    }
    /// Whether it gets all findings and selects them itself.
    fn filters_findings_itself(&self) -> bool {
        false
    }
    fn write_document(&mut self, out: &mut Sink<'_>, reviewed: DocumentToWrite<'_>) -> io::Result<()>;
    fn write_end(&mut self, _: &mut Sink<'_>, _: &AfterAllDocuments) -> io::Result<()> {
        Ok(())
    }
}

/// How much of what comes after the results a format shows. Only a format that shows all has all in memory.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct KeptUntilEnd {
    /// Skipped objects (count).
    pub(super) skipped: usize,
    /// Whether it lists the errors of unreadable inputs.
    pub(super) errors: bool,
}

impl KeptUntilEnd {
    /// Enough for both formats.
    pub(super) fn and(self, other: Self) -> Self {
        Self { skipped: self.skipped.max(other.skipped), errors: self.errors || other.errors }
    }
}

/// What comes after the results.
pub(super) struct AfterAllDocuments {
    pub(super) summary: Summary,
    /// The first skipped objects; the summary counts all.
    pub(super) skipped: Vec<Skipped>,
    pub(super) unread: Vec<UnreadInput>,
    /// The comparison with the baseline; `None` without one.
    pub(super) comparison: Option<Comparison>,
    kept: KeptUntilEnd,
    /// Inputs with an error.
    unreadable: BTreeSet<Arc<str>>,
}

impl AfterAllDocuments {
    pub(super) fn new(kept: KeptUntilEnd) -> Self {
        let (summary, unreadable) = (Summary::default(), BTreeSet::new());
        Self { summary, skipped: Vec::new(), unread: Vec::new(), comparison: None, kept, unreadable }
    }

    pub(super) fn count_and_keep_skipped(&mut self, skipped: Vec<Skipped>) {
        self.summary.skipped += skipped.len();
        let room = self.kept.skipped.saturating_sub(self.skipped.len());
        self.skipped.extend(skipped.into_iter().take(room));
    }

    pub(super) fn count_and_keep_unread(&mut self, unread: Vec<UnreadInput>) {
        self.summary.errors += unread.len();
        for one in &unread {
            if !self.unreadable.contains(&one.file) {
                self.unreadable.insert(one.file.clone());
            }
        }
        self.summary.unreadable = self.unreadable.len();
        self.summary.partial = self.summary.errors > 0;
        if self.kept.errors {
            self.unread.extend(unread);
        }
    }
}
