//! Writes a review in each format. Documents are decided in parallel, a batch at a time, and written in order, so that
//! memory does not grow with the number of results.

mod changes;
mod ci;
mod denied;
mod reports;
mod repository;
mod sheet;

use super::baselines::{Baselines, Number};
use super::decide;
use super::filter::Filter;
use super::placeholders::{self, Reported};
use super::repeated_findings::Pairs;
use super::reviewed::DocumentReview;
use super::setting::Setting;
use super::settings::Format;
use crate::cli::input::{File, Loaded, Ready, warn_of_duplicates};
use crate::manifest::Document;
use crate::report::baseline::Baseline;
use crate::report::ci::{GitHub, GitLab, JUnit, Sarif, log_text};
use crate::report::comparison_text;
use crate::report::snippet::Lines;
use crate::report::text::View;
use crate::report::{Summary, Unread};
use crate::rules::Severity;
use crate::snapshot::Snapshot;
use crate::text::count;
use ci::Ci;
use rayon::prelude::*;
use sheet::{Kept, Page, Sheet, Tail};
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
}

/// The output of a review: all its formats at once.
pub(super) struct Output<'w> {
    sheets: Vec<(Box<dyn Sheet>, Box<dyn Write + 'w>)>,
    /// The format whose reader has to learn of denied objects from stderr.
    silent: Option<Format>,
    shown: Shown,
    tail: Tail,
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

fn sheet(format: Format, shown: &Shown) -> Box<dyn Sheet> {
    let ci = |format| Box::new(Ci::new(format, shown.view, shown.filter.clone()));
    match format {
        Format::Text => Box::new(reports::Text::new(shown.view)),
        Format::Json => Box::new(reports::Json::default()),
        Format::Yaml => Box::new(changes::Yaml::default()),
        Format::Patch => Box::new(changes::Patch),
        Format::Diff => Box::new(changes::Diff),
        Format::Sarif => ci(Box::<Sarif>::default()),
        Format::Junit => ci(Box::<JUnit>::default()),
        Format::Github => ci(Box::<GitHub>::default()),
        Format::Gitlab => ci(Box::<GitLab>::default()),
    }
}

fn kept(format: Format) -> Kept {
    match format {
        Format::Text => Kept { skipped: reports::MAX_SKIPPED, errors: false },
        Format::Json => Kept { skipped: usize::MAX, errors: true },
        Format::Yaml | Format::Patch | Format::Diff => Kept::default(),
        Format::Sarif | Format::Junit | Format::Github | Format::Gitlab => Kept { skipped: 0, errors: true },
    }
}

impl<'w> Output<'w> {
    /// Begins the output in each format.
    pub(super) fn begin(targets: Vec<Target<'w>>, shown: Shown, baselines: Baselines) -> io::Result<Self> {
        let reported = targets.iter().any(|target| target.stdout && target.format.reports());
        let without = |format: &Format| !format.reports() && !reported && !shown.quiet;
        let silent = targets.iter().map(|target| target.format).find(without);
        let tail =
            Tail::new(targets.iter().fold(Kept::default(), |all, target| all.and(kept(target.format))));
        let compares = targets.iter().any(|target| matches!(target.format, Format::Text | Format::Json));
        let mut sheets = Vec::new();
        for target in targets {
            let mut sheet = sheet(target.format, &shown);
            let mut out: Box<dyn Write + 'w> = Box::new(io::BufWriter::with_capacity(1 << 16, target.out));
            sheet.begin(&mut out)?;
            sheets.push((sheet, out));
        }
        Ok(Self { sheets, silent, shown, tail, baselines, compares })
    }

    /// Reviews the documents of some inputs. Returns the severity of the most severe finding that counts.
    pub(super) fn add(
        &mut self,
        part: Part<'_>,
        unread: Vec<Unread>,
        err: &mut dyn Write,
    ) -> io::Result<Option<Severity>> {
        let Part { loaded, snapshot, setting, fails, baseline } = part;
        self.baselines.covers(baseline, snapshot);
        self.tail.summary.documents += loaded.documents;
        self.tail.skip(loaded.skipped.clone());
        self.tail.fail(unread);
        let mut worst = None;
        let mut pairs = Pairs::default();
        let mut reported = Reported::default();
        for files in loaded.batches() {
            let (files, changed): (Vec<_>, Vec<_>) = files.into_iter().partition(Result::is_ok);
            let changed: Vec<Unread> = changed.into_iter().filter_map(Result::err).collect();
            complain(&changed, err)?;
            self.tail.fail(changed);
            let files: Vec<Ready<'_>> = files.into_iter().filter_map(Result::ok).collect();
            let mut lines: Option<(&File, Lines<'_>)> = None;
            for (file, document, mut review) in decided(&files, &mut reported, setting, snapshot) {
                complain(&review.unread, err)?;
                let lines = match &lines {
                    Some((of, lines)) if std::ptr::eq(*of, file) => lines,
                    _ => &lines.insert((file, Lines::new(&file.text, file.line))).1,
                };
                for reviewed in &mut review.results {
                    pairs.fold(reviewed);
                    self.tail.summary.count(reviewed);
                    let json = reviewed.part.clone().and_then(|part| document.json.get().get(part));
                    self.baselines.take(baseline, reviewed, json.unwrap_or_default());
                    worst = worst.max(match baseline {
                        None => reviewed.worst(),
                        Some(_) => reviewed.worst_new(),
                    });
                }
                if let Some(format) = self.silent {
                    warn_of_duplicates(document, err)?;
                    denied::write(err, format, &review, self.shown.view.width, lines)?;
                }
                for (sheet, out) in self.sheets.iter_mut().filter(|(sheet, _)| sheet.selects()) {
                    sheet.document(out, Page { file, document, review: &review, lines, fails })?;
                }
                review.results.iter_mut().for_each(|reviewed| self.shown.filter.apply(reviewed));
                for (sheet, out) in self.sheets.iter_mut().filter(|(sheet, _)| !sheet.selects()) {
                    sheet.document(out, Page { file, document, review: &review, lines, fails })?;
                }
                self.tail.skip(review.skipped);
                self.tail.fail(review.unread);
            }
        }
        Ok(worst)
    }

    /// Ends the output in each format. Returns the baseline of this run, unless an input could not be read.
    pub(super) fn end(mut self, err: &mut dyn Write) -> io::Result<(Summary, Option<Baseline>)> {
        let partial = self.tail.summary.partial;
        let (comparison, written) = std::mem::take(&mut self.baselines).end(partial);
        self.tail.comparison = comparison;
        // Other formats only mark findings, and cannot show what is gone.
        if let Some(comparison) =
            self.tail.comparison.as_ref().filter(|_| !self.compares && !self.shown.quiet)
        {
            comparison_text::write(err, comparison)?;
        }
        for (sheet, out) in &mut self.sheets {
            sheet.end(out, &self.tail)?;
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

/// The reviews of all documents of some files, in order. `reported` is about the file that the first of them continues.
fn decided<'a>(
    files: &'a [Ready<'a>],
    reported: &mut Reported,
    setting: &'a Setting,
    snapshot: &Snapshot,
) -> impl Iterator<Item = (&'a File, &'a Document, DocumentReview)> {
    let ignores = &setting.ignores;
    let documents: Vec<(&File, &Document)> = files
        .iter()
        .flat_map(|file| file.documents.iter().map(move |document| (&**file, document)))
        .collect();
    let mut reviews: Vec<DocumentReview> = documents
        .par_iter()
        .map(|(file, document)| decide::document(file, document, setting, snapshot))
        .collect();
    let mut rest = reviews.as_mut_slice();
    for parts in files.chunk_by(|_, next| next.continues) {
        if !parts.first().is_some_and(|first| first.continues) {
            reported.clear();
        }
        let length = parts.iter().map(|part| part.documents.len()).sum();
        let Some((own, behind)) = rest.split_at_mut_checked(length) else { break };
        placeholders::report(own, reported);
        rest = behind;
    }
    // Findings on the placeholders of a file are known only now.
    let ignored = move |((file, document), mut review): ((&'a File, &'a Document), DocumentReview)| {
        ignores.apply(&document.file, &mut review.results);
        (file, document, review)
    };
    documents.into_iter().zip(reviews).map(ignored)
}
