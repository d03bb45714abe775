//! Writes a review in each format. Documents are decided in parallel, a batch at a time, and written in order while the
//! next batch is decided, so that memory does not grow with the number of results.

mod ci_formats;
mod decided_batch;
mod denied_on_stderr;
mod format_writer;
mod repository_paths;
mod text_and_json;
mod yaml_patch_diff;

use super::document_results::DocumentReview;
use super::new_since_baseline::{Baselines, Number, Written};
use super::options_of_all_decisions::Setting;
use super::output_format::Format;
use super::placeholders::Reported;
use super::repeated_findings::FindingsAboutTwoObjects;
use super::shown_findings::Filter;
use crate::cli::estimate::Asked;
use crate::cli::input::{File, Loaded, report_unread, warn_of_duplicates};
use crate::manifest::Document;
use crate::report::baseline_comparison_text;
use crate::report::ci::{GitHub, GitLab, JUnit, Sarif, log_text};
use crate::report::review_text::View;
use crate::report::source_line_snippet::Lines;
use crate::report::{Summary, Unread};
use crate::rules::Severity;
use crate::snapshot::Snapshot;
use crate::text::count;
use ci_formats::Ci;
use decided_batch::Decided;
use format_writer::{AfterAllDocuments, DocumentToWrite, FormatWriter, KeptUntilEnd, Sink};
use std::io::{self, Write};

/// Where a format is written.
pub(super) struct Target<'w> {
    pub(super) format: Format,
    pub(super) out: Box<dyn Write + 'w>,
    /// Whether it is standard output.
    pub(super) stdout: bool,
}

/// What is shown of a review.
pub(super) struct Shown {
    pub(super) view: View,
    pub(super) filter: Filter,
    /// Whether stderr has errors of inputs only.
    pub(super) quiet: bool,
    /// The training to estimate for each workload.
    pub(super) estimate: Option<Asked>,
}

/// The output of a review: all its formats at once.
pub(super) struct Output<'w> {
    sheets: Vec<(Box<dyn FormatWriter>, Sink<'w>)>,
    /// The format whose reader has to learn of denied objects from stderr.
    silent: Option<Format>,
    shown: Shown,
    tail: AfterAllDocuments,
    baselines: Baselines,
    /// Whether a format shows the whole comparison with a baseline.
    compares: bool,
}

/// The inputs of one configuration, and how they are reviewed.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) loaded: &'a Loaded,
    pub(super) snapshot: &'a Snapshot,
    pub(super) setting: &'a Setting,
    /// Lowest severity with which the command fails.
    pub(super) fails: Option<Severity>,
    pub(super) baseline: Option<Number>,
}

fn sheet(format: Format, shown: &Shown) -> Box<dyn FormatWriter> {
    let ci = |format| Box::new(Ci::new(format, shown.view, shown.filter.clone()));
    match format {
        Format::Text => Box::new(text_and_json::Text::new(shown.view, shown.estimate)),
        Format::Json => Box::new(text_and_json::Json::default()),
        Format::Yaml => Box::new(yaml_patch_diff::Yaml::default()),
        Format::Patch => Box::new(yaml_patch_diff::Patch),
        Format::Diff => Box::new(yaml_patch_diff::Diff),
        Format::Sarif => ci(Box::<Sarif>::default()),
        Format::Junit => ci(Box::<JUnit>::default()),
        Format::Github => ci(Box::<GitHub>::default()),
        Format::Gitlab => ci(Box::<GitLab>::default()),
    }
}

fn kept(format: Format) -> KeptUntilEnd {
    match format {
        Format::Text => KeptUntilEnd { skipped: text_and_json::MAX_SKIPPED, errors: false },
        Format::Json => KeptUntilEnd { skipped: usize::MAX, errors: true },
        Format::Yaml | Format::Patch | Format::Diff => KeptUntilEnd::default(),
        Format::Sarif | Format::Junit | Format::Github | Format::Gitlab => {
            KeptUntilEnd { skipped: 0, errors: true }
        }
    }
}

impl<'w> Output<'w> {
    /// Begins the output in each format.
    pub(super) fn write_begin(
        targets: Vec<Target<'w>>,
        shown: Shown,
        baselines: Baselines,
    ) -> io::Result<Self> {
        let reported = targets.iter().any(|target| target.stdout && target.format.shows_findings());
        let without = |format: &Format| !format.shows_findings() && !reported && !shown.quiet;
        let silent = targets.iter().map(|target| target.format).find(without);
        let tail = AfterAllDocuments::new(
            targets.iter().fold(KeptUntilEnd::default(), |all, target| all.and(kept(target.format))),
        );
        let compares = targets.iter().any(|target| matches!(target.format, Format::Text | Format::Json));
        let mut sheets = Vec::new();
        for target in targets {
            let mut sheet = sheet(target.format, &shown);
            let mut out = Sink::with_capacity(1 << 16, target.out);
            sheet.write_begin(&mut out)?;
            sheets.push((sheet, out));
        }
        Ok(Self { sheets, silent, shown, tail, baselines, compares })
    }

    /// Reviews the documents of some inputs. Returns the severity of the most severe finding that counts.
    pub(super) fn decide_and_write_part(
        &mut self,
        part: Part<'_>,
        unread: Vec<Unread>,
        err: &mut dyn Write,
    ) -> io::Result<Option<Severity>> {
        let Part { loaded, snapshot, setting, baseline, .. } = part;
        self.baselines.note_kinds_that_inputs_lack(baseline, snapshot);
        self.tail.add_unread(unread);
        let (mut worst, mut pairs) = (None, FindingsAboutTwoObjects::default());
        let mut reported = Reported::default();
        let mut batches = loaded.batches();
        let mut decide = || Some(Decided::decide_batch(batches.next()?, &mut reported, setting, snapshot));
        let mut next = decide();
        while let Some(decided) = next.take() {
            // The next batch is decided while this one is written.
            rayon::in_place_scope(|scope| {
                scope.spawn(|_| next = decide());
                let of_batch = self.write_batch(decided, part, &mut pairs, err)?;
                worst = worst.max(of_batch);
                Ok::<_, io::Error>(())
            })?;
        }
        Ok(worst)
    }

    /// Writes the results of a batch.
    fn write_batch(
        &mut self,
        decided: Decided<'_>,
        part: Part<'_>,
        pairs: &mut FindingsAboutTwoObjects,
        err: &mut dyn Write,
    ) -> io::Result<Option<Severity>> {
        let Decided { files, reviews, problems } = decided;
        report_unread(&problems.unread, err)?;
        self.tail.add_unread(problems.unread.into_iter().map(|(unread, _)| unread).collect());
        self.tail.add_skipped(problems.skipped);
        let mut worst = None;
        let mut reviews = reviews.into_iter();
        for file in &files {
            let lines = file.lines();
            // The documents come first: the zip takes no review behind those of the file.
            for (document, review) in file.documents.iter().zip(&mut reviews) {
                let of_document = self.write_document((file, document, &lines), review, part, pairs, err)?;
                worst = worst.max(of_document);
            }
        }
        Ok(worst)
    }

    /// Writes the results of a document.
    fn write_document(
        &mut self,
        (file, document, lines): (&File, &Document, &Lines<'_>),
        mut review: DocumentReview,
        part: Part<'_>,
        pairs: &mut FindingsAboutTwoObjects,
        err: &mut dyn Write,
    ) -> io::Result<Option<Severity>> {
        let Part { baseline, fails, .. } = part;
        let mut worst = None;
        complain(&review.unread, err)?;
        self.tail.summary.documents += 1;
        for reviewed in &mut review.results {
            pairs.fold_repeated_findings(reviewed);
            self.tail.summary.count_result(reviewed);
            let json = reviewed.part.clone().and_then(|part| document.json.get().get(part));
            self.baselines.count_against_baseline_and_record(baseline, reviewed, json.unwrap_or_default());
            worst = worst.max(match baseline {
                None => reviewed.worst(),
                Some(_) => reviewed.worst_new(),
            });
        }
        if let Some(format) = self.silent {
            warn_of_duplicates(document, err)?;
            denied_on_stderr::write(err, format, &review, self.shown.view.width, lines)?;
        }
        for (sheet, out) in self.sheets.iter_mut().filter(|(sheet, _)| sheet.filters_findings_itself()) {
            sheet.write_document(out, DocumentToWrite { file, document, review: &review, lines, fails })?;
        }
        review
            .results
            .iter_mut()
            .for_each(|reviewed| self.shown.filter.drop_and_count_hidden_findings(reviewed));
        for (sheet, out) in self.sheets.iter_mut().filter(|(sheet, _)| !sheet.filters_findings_itself()) {
            sheet.write_document(out, DocumentToWrite { file, document, review: &review, lines, fails })?;
        }
        self.tail.add_skipped(review.skipped);
        self.tail.add_unread(review.unread);
        Ok(worst)
    }

    /// Ends the output in each format. Returns the baseline of this run, unless an input could not be read.
    pub(super) fn write_end(mut self, err: &mut dyn Write) -> io::Result<(Summary, Option<Written>)> {
        let partial = self.tail.summary.partial;
        let (comparison, written) = std::mem::take(&mut self.baselines).end(partial);
        self.tail.comparison = comparison;
        // Other formats only mark findings, and cannot show what is gone.
        if let Some(comparison) =
            self.tail.comparison.as_ref().filter(|_| !self.compares && !self.shown.quiet)
        {
            baseline_comparison_text::write(err, comparison)?;
        }
        for (sheet, out) in &mut self.sheets {
            sheet.write_end(out, &self.tail)?;
            out.flush()?;
        }
        // Each of its lines is one patch.
        if self.silent == Some(Format::Patch) && self.tail.summary.partial {
            let inputs = count(self.tail.summary.unreadable, "input");
            writeln!(err, "warning: partial result: {inputs} unreadable")?;
        }
        if partial && written.is_some() {
            writeln!(err, "error: --write-baseline: not written, since an input cannot be read")?;
        }
        Ok((self.tail.summary, written.filter(|_| !partial)))
    }
}

fn complain(problems: &[Unread], err: &mut dyn Write) -> io::Result<()> {
    for Unread { file, line, column, message } in problems {
        writeln!(err, "error: {}:{line}:{column}: {}", log_text(file), log_text(message))?;
    }
    Ok(())
}
