//! Writes a review in each format. Documents are decided in parallel, a batch at a time, and written in order while the
//! next batch is decided, so that memory does not grow with the number of results.

mod ci_formats;
mod decided_batch;
mod denied_on_stderr;
mod diff_of_yaml;
mod format_writer;
mod repository_paths;
mod text_and_json;
mod yaml_patch_diff;

use super::document_results::DocumentReview;
use super::new_since_baseline::{BaselineNumber, BaselineToWrite, Baselines};
use super::options_of_all_decisions::ReviewOptions;
use super::output_format::Format;
use super::placeholders::Reported;
use super::repeated_findings::FindingsAboutTwoObjects;
use super::shown_findings::FindingFilter;
use crate::cli::estimate::EstimateRequest;
use crate::cli::input::{Loaded, LoadedFile, report_unread, warn_of_duplicates};
use crate::cli::lines_on_stderr::{write_error, write_warning};
use crate::manifest::Document;
use crate::report::baseline_comparison_text;
use crate::report::ci::{GitHub, GitLab, JUnit, Sarif};
use crate::report::review_text::WhatReviewShows;
use crate::report::source_line_snippet::LinesOfFile;
use crate::report::{Summary, UnreadInput};
use crate::rules::Severity;
use crate::snapshot::Snapshot;
use crate::text::count_with_noun;
use ci_formats::Ci;
use decided_batch::DecidedBatch;
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
pub(super) struct WhatIsShown {
    pub(super) view: WhatReviewShows,
    pub(super) filter: FindingFilter,
    /// Whether stderr has errors of inputs only.
    pub(super) quiet: bool,
    /// The training to estimate for each workload.
    pub(super) estimate: Option<EstimateRequest>,
}

/// The output of a review: all its formats at once.
pub(super) struct ReviewOutput<'w> {
    sheets: Vec<(Box<dyn FormatWriter>, Sink<'w>)>,
    /// The format whose reader has to learn of denied objects from stderr.
    silent: Option<Format>,
    shown: WhatIsShown,
    tail: AfterAllDocuments,
    baselines: Baselines,
    /// Whether a format shows the whole comparison with a baseline.
    compares: bool,
}

/// The inputs of one configuration, and how they are reviewed.
#[derive(Clone, Copy)]
pub(super) struct InputsToReview<'a> {
    pub(super) loaded: &'a Loaded,
    pub(super) snapshot: &'a Snapshot,
    pub(super) setting: &'a ReviewOptions,
    /// Lowest severity with which the command fails.
    pub(super) fails: Option<Severity>,
    pub(super) baseline: Option<BaselineNumber>,
}

fn writer_of_format(format: Format, shown: &WhatIsShown) -> Box<dyn FormatWriter> {
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

impl<'w> ReviewOutput<'w> {
    /// Begins the output in each format.
    pub(super) fn write_begin(
        targets: Vec<Target<'w>>,
        shown: WhatIsShown,
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
            let mut sheet = writer_of_format(target.format, &shown);
            let mut out = Sink::with_capacity(1 << 16, target.out);
            sheet.write_begin(&mut out)?;
            sheets.push((sheet, out));
        }
        Ok(Self { sheets, silent, shown, tail, baselines, compares })
    }

    /// Reviews the documents of some inputs. Returns the severity of the most severe finding that counts.
    pub(super) fn decide_and_write_inputs_of_one_config(
        &mut self,
        part: InputsToReview<'_>,
        unread: Vec<UnreadInput>,
        err: &mut dyn Write,
    ) -> io::Result<Option<Severity>> {
        let InputsToReview { loaded, snapshot, setting, baseline, .. } = part;
        self.baselines.note_kinds_that_inputs_lack(baseline, snapshot);
        self.tail.count_and_keep_unread(unread);
        let (mut worst, mut pairs) = (None, FindingsAboutTwoObjects::default());
        let mut reported = Reported::default();
        let mut batches = loaded.batches();
        let mut decide =
            || Some(DecidedBatch::decide_batch(batches.next()?, &mut reported, setting, snapshot));
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
        decided: DecidedBatch<'_>,
        part: InputsToReview<'_>,
        pairs: &mut FindingsAboutTwoObjects,
        err: &mut dyn Write,
    ) -> io::Result<Option<Severity>> {
        let DecidedBatch { files, reviews, problems } = decided;
        report_unread(&problems.unread, err)?;
        self.tail.count_and_keep_unread(problems.unread.into_iter().map(|(unread, _)| unread).collect());
        self.tail.count_and_keep_skipped(problems.skipped);
        let mut worst = None;
        let mut reviews = reviews.into_iter();
        for file in &files {
            let lines = file.lines();
            // The documents come first: the zip takes no review behind those of the file.
            for (document, review) in file.documents.iter().zip(&mut reviews) {
                let of_document = self.count_compare_and_write_document(
                    (file, document, &lines),
                    review,
                    part,
                    pairs,
                    err,
                )?;
                worst = worst.max(of_document);
            }
        }
        Ok(worst)
    }

    /// Writes the results of a document.
    fn count_compare_and_write_document(
        &mut self,
        (file, document, lines): (&LoadedFile, &Document, &LinesOfFile<'_>),
        mut review: DocumentReview,
        part: InputsToReview<'_>,
        pairs: &mut FindingsAboutTwoObjects,
        err: &mut dyn Write,
    ) -> io::Result<Option<Severity>> {
        let InputsToReview { baseline, fails, .. } = part;
        let mut worst = None;
        complain(&review.unread, err)?;
        self.tail.summary.documents += 1;
        for reviewed in &mut review.results {
            pairs.fold_repeated_findings(reviewed);
            self.tail.summary.count_result(reviewed);
            let json = reviewed.part.clone().and_then(|part| document.json.get().get(part));
            self.baselines.note_object_mark_findings_and_record(baseline, reviewed, json.unwrap_or_default());
            worst = worst.max(match baseline {
                None => reviewed.worst_severity(),
                Some(_) => reviewed.worst_severity_not_in_baseline(),
            });
        }
        if let Some(format) = self.silent {
            warn_of_duplicates(document, err)?;
            denied_on_stderr::write_denied_objects(err, format, &review, self.shown.view.width, lines)?;
        }
        for (sheet, out) in self.sheets.iter_mut().filter(|(sheet, _)| sheet.filters_findings_itself()) {
            sheet.write_document(out, DocumentToWrite { file, document, review: &review, lines, fails })?;
        }
        review.results.iter_mut().for_each(|reviewed| self.shown.filter.drop_what_filter_hides(reviewed));
        for (sheet, out) in self.sheets.iter_mut().filter(|(sheet, _)| !sheet.filters_findings_itself()) {
            sheet.write_document(out, DocumentToWrite { file, document, review: &review, lines, fails })?;
        }
        self.tail.count_and_keep_skipped(review.skipped);
        self.tail.count_and_keep_unread(review.unread);
        Ok(worst)
    }

    /// Ends the output in each format. Returns the baseline of this run, unless an input could not be read.
    pub(super) fn finish_formats_and_baseline(
        mut self,
        err: &mut dyn Write,
    ) -> io::Result<(Summary, Option<BaselineToWrite>)> {
        let partial = self.tail.summary.partial;
        let (comparison, written) =
            std::mem::take(&mut self.baselines).finish_comparison_and_new_baseline(partial);
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
            let inputs = count_with_noun(self.tail.summary.unreadable, "input");
            write_warning(err, format_args!("partial result: {inputs} unreadable"))?;
        }
        if partial && written.is_some() {
            write_error(err, format_args!("--write-baseline: not written, since an input cannot be read"))?;
        }
        Ok((self.tail.summary, written.filter(|_| !partial)))
    }
}

fn complain(problems: &[UnreadInput], err: &mut dyn Write) -> io::Result<()> {
    for UnreadInput { file, line, column, message } in problems {
        write_error(err, format_args!("{file}:{line}:{column}: {message}"))?;
    }
    Ok(())
}
