//! Writes a review in each format. Documents are decided in parallel, a batch at a time, and written in order, so that
//! memory does not grow with the number of results.

use super::decide;
use super::placeholders::{self, Reported};
use super::repeated_findings::Pairs;
use super::reviewed::DocumentReview;
use super::settings::{Format, Setting};
use crate::cli::input::{File, Loaded, Ready, warn_of_duplicates};
use crate::manifest::{self, Document};
use crate::patch::Operation;
use crate::report::json::{ResultEntry, SCHEMA, patch};
use crate::report::{Reviewed, Skipped, Summary, Unread, text};
use crate::rules::Severity;
use crate::snapshot::Snapshot;
use imara_diff::{Algorithm, BasicLineDiffPrinter, InternedInput, UnifiedDiffConfig};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{self, Write};

/// What the exit code follows from.
pub(super) struct Sum {
    pub(super) summary: Summary,
    pub(super) worst: Option<Severity>,
}

/// A format's share of the work.
trait Sheet {
    fn begin(&mut self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
    fn document(
        &mut self,
        out: &mut dyn Write,
        file: &File,
        document: &Document,
        review: &DocumentReview,
    ) -> io::Result<()>;
    fn end(&mut self, _: &mut dyn Write, _: &Tail) -> io::Result<()> {
        Ok(())
    }
}

/// What comes after the results. Only the format that shows them all holds them all.
struct Tail {
    summary: Summary,
    /// The first skipped objects; the summary counts all.
    skipped: Vec<Skipped>,
    most: usize,
    /// Errors, for JSON.
    unread: Option<Vec<Unread>>,
    /// Inputs with an error.
    unreadable: BTreeSet<String>,
}

/// Skipped objects that text lists.
const MAX_SKIPPED: usize = 10_000;

impl Tail {
    fn new(format: Format) -> Self {
        let (most, unread) = match format {
            Format::Json => (usize::MAX, Some(Vec::new())),
            Format::Text => (MAX_SKIPPED, None),
            Format::Yaml | Format::Patch | Format::Diff => (0, None),
        };
        let (summary, unreadable) = (Summary::default(), BTreeSet::new());
        Self { summary, skipped: Vec::new(), most, unread, unreadable }
    }

    fn skip(&mut self, skipped: Vec<Skipped>) {
        self.summary.skipped += skipped.len();
        let room = self.most.saturating_sub(self.skipped.len());
        self.skipped.extend(skipped.into_iter().take(room));
    }

    fn fail(&mut self, unread: Vec<Unread>) {
        self.summary.errors += unread.len();
        for one in &unread {
            if !self.unreadable.contains(&one.file) {
                self.unreadable.insert(one.file.clone());
            }
        }
        if let Some(all) = &mut self.unread {
            all.extend(unread);
        }
    }
}

pub(super) fn write(
    format: Format,
    loaded: &Loaded,
    unread: Vec<Unread>,
    snapshot: &Snapshot,
    setting: &Setting,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Sum> {
    let mut sheet: Box<dyn Sheet> = match format {
        Format::Text => Box::new(Text { verbose: setting.verbose, hidden: 0 }),
        Format::Json => Box::new(Json { first: true }),
        Format::Yaml => Box::new(Yaml { first: true }),
        Format::Patch => Box::new(Patch),
        Format::Diff => Box::new(Diff),
    };
    let mut tail = Tail::new(format);
    tail.summary.documents = loaded.documents;
    tail.skip(loaded.skipped.clone());
    tail.fail(unread);
    let mut worst = None;
    let mut pairs = Pairs::default();
    let mut out = io::BufWriter::with_capacity(1 << 16, out);
    sheet.begin(&mut out)?;
    let mut reported = Reported::default();
    for files in loaded.batches() {
        let (files, changed): (Vec<_>, Vec<_>) = files.into_iter().partition(Result::is_ok);
        let changed: Vec<Unread> = changed.into_iter().filter_map(Result::err).collect();
        for problem in &changed {
            writeln!(
                err,
                "error: {}:{}:{}: {}",
                problem.file, problem.line, problem.column, problem.message
            )?;
        }
        tail.fail(changed);
        let files: Vec<Ready<'_>> = files.into_iter().filter_map(Result::ok).collect();
        for (file, document, mut review) in decided(&files, &mut reported, setting, snapshot) {
            for problem in &review.unread {
                writeln!(
                    err,
                    "error: {}:{}:{}: {}",
                    problem.file, problem.line, problem.column, problem.message
                )?;
            }
            for reviewed in &mut review.results {
                pairs.fold(reviewed);
                tail.summary.count(reviewed);
                worst = worst.max(reviewed.worst());
            }
            if !format.reports() {
                warn_of_duplicates(document, err)?;
                denied(err, format, &review)?;
            }
            sheet.document(&mut out, file, document, &review)?;
            tail.skip(review.skipped);
            tail.fail(review.unread);
        }
    }
    tail.summary.unreadable = tail.unreadable.len();
    sheet.end(&mut out, &tail)?;
    out.flush()?;
    Ok(Sum { summary: tail.summary, worst })
}

/// Names the denied objects, for formats without findings: nothing in the output shows them.
fn denied(err: &mut dyn Write, format: Format, review: &DocumentReview) -> io::Result<()> {
    for r in review.results.iter().filter(|r| r.decision.denied) {
        let mut rules: Vec<&str> = Vec::new();
        for found in r.findings.iter().filter(|f| f.item.severity == Severity::Error) {
            if !rules.contains(&found.item.rule) {
                rules.push(found.item.rule);
            }
        }
        let rules = match rules.as_slice() {
            [] => "a finding reported with an earlier object".to_owned(),
            rules => rules.join(", "),
        };
        let consequence = match format {
            Format::Yaml => "the object is printed unchanged",
            Format::Diff => "no diff is printed for the object",
            Format::Text | Format::Json | Format::Patch => "no patch is printed for the object",
        };
        writeln!(
            err,
            "denied: {}: {} by {rules}; {consequence} (-o text shows the findings)",
            text::place(r),
            text::object(r)
        )?;
    }
    Ok(())
}

/// The reviews of all documents of some files, in order. `reported` is about the file that the first of them continues.
fn decided<'a>(
    files: &'a [Ready<'a>],
    reported: &mut Reported,
    setting: &Setting,
    snapshot: &Snapshot,
) -> impl Iterator<Item = (&'a File, &'a Document, DocumentReview)> {
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
    documents.into_iter().zip(reviews).map(|((file, document), review)| (file, document, review))
}

struct Text {
    verbose: bool,
    hidden: usize,
}

impl Sheet for Text {
    fn document(
        &mut self,
        out: &mut dyn Write,
        _: &File,
        _: &Document,
        review: &DocumentReview,
    ) -> io::Result<()> {
        for reviewed in &review.results {
            self.hidden += text::result(out, reviewed, self.verbose)?;
        }
        Ok(())
    }
    fn end(&mut self, out: &mut dyn Write, tail: &Tail) -> io::Result<()> {
        for skipped in &tail.skipped {
            text::skipped(out, skipped)?;
        }
        if tail.summary.skipped > tail.skipped.len() {
            writeln!(out, "SKIP   {} more", tail.summary.skipped - tail.skipped.len())?;
        }
        text::summary(out, &tail.summary, self.hidden)
    }
}

struct Json {
    first: bool,
}

impl Sheet for Json {
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{{\"schema\":\"{SCHEMA}\",\n\"results\":[")
    }
    fn document(
        &mut self,
        out: &mut dyn Write,
        _: &File,
        _: &Document,
        review: &DocumentReview,
    ) -> io::Result<()> {
        for reviewed in &review.results {
            out.write_all(if self.first { b"\n" } else { b",\n" })?;
            self.first = false;
            serde_json::to_writer(&mut *out, &ResultEntry::from(reviewed))?;
        }
        Ok(())
    }
    fn end(&mut self, out: &mut dyn Write, tail: &Tail) -> io::Result<()> {
        write!(out, "],\n\"skipped\":")?;
        serde_json::to_writer(&mut *out, &tail.skipped)?;
        write!(out, ",\n\"errors\":")?;
        serde_json::to_writer(&mut *out, tail.unread.as_deref().unwrap_or_default())?;
        write!(out, ",\n\"summary\":")?;
        serde_json::to_writer(&mut *out, &tail.summary)?;
        writeln!(out, "}}")
    }
}

struct Yaml {
    first: bool,
}

impl Sheet for Yaml {
    fn document(
        &mut self,
        out: &mut dyn Write,
        file: &File,
        document: &Document,
        review: &DocumentReview,
    ) -> io::Result<()> {
        if !self.first {
            writeln!(out, "---")?;
        }
        self.first = false;
        let changed = changed(review);
        if changed.is_empty() {
            let text = file.text.get(document.text.clone()).unwrap_or_default();
            let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
            out.write_all(text)?;
            if !text.ends_with(b"\n") {
                writeln!(out)?;
            }
            return Ok(());
        }
        let (_, after) = before_and_after(document, &changed)?;
        out.write_all(manifest::to_yaml(&after).as_bytes())
    }
}

struct Patch;

impl Sheet for Patch {
    fn document(
        &mut self,
        out: &mut dyn Write,
        _: &File,
        _: &Document,
        review: &DocumentReview,
    ) -> io::Result<()> {
        for r in changed(review) {
            let line = json!({
                "source": r.source, "apiVersion": r.api_version, "kind": r.kind, "namespace": r.namespace,
                "name": r.name, "generateName": r.generate_name, "template": r.template,
                "profile": r.decision.profile, "patch": serde_json::to_value(patch(&r.decision.patch))?,
            });
            serde_json::to_writer(&mut *out, &line)?;
            writeln!(out)?;
        }
        Ok(())
    }
}

struct Diff;

impl Sheet for Diff {
    fn document(
        &mut self,
        out: &mut dyn Write,
        _: &File,
        document: &Document,
        review: &DocumentReview,
    ) -> io::Result<()> {
        let changed = changed(review);
        if changed.is_empty() {
            return Ok(());
        }
        let (before, after) = before_and_after(document, &changed)?;
        let (before, after) = (manifest::to_yaml(&before), manifest::to_yaml(&after));
        let name = format!("{} (document {})", document.file, document.index);
        let lines = InternedInput::new(before.as_str(), after.as_str());
        let mut diff = imara_diff::Diff::compute(Algorithm::Histogram, &lines);
        diff.postprocess_lines(&lines);
        let printer = BasicLineDiffPrinter(&lines.interner);
        let hunks = diff.unified_diff(&printer, UnifiedDiffConfig::default(), &lines);
        write!(out, "--- {name}\n+++ {name}, admitted\n{hunks}")
    }
}

fn changed(review: &DocumentReview) -> Vec<&Reviewed> {
    review.results.iter().filter(|r| !r.decision.patch.is_empty()).collect()
}

/// The document before and after the changes.
fn before_and_after(document: &Document, changed: &[&Reviewed]) -> io::Result<(Value, Value)> {
    let before: Value = serde_json::from_str(document.json.get())?;
    let mut after = before.clone();
    for reviewed in changed {
        let prefix =
            format!("{}{}", reviewed.source.pointer, reviewed.template.as_deref().unwrap_or_default());
        let operations = prefixed(&prefix, &reviewed.decision.patch)?;
        json_patch::patch(&mut after, &operations).map_err(io::Error::other)?;
    }
    Ok((before, after))
}

fn prefixed(prefix: &str, operations: &[Operation]) -> io::Result<json_patch::Patch> {
    let operations: Vec<Value> = operations
        .iter()
        .map(|o| Ok(json!({"op": o.op, "path": format!("{prefix}{}", o.path), "value": serde_json::from_str::<Value>(o.value.get())?})))
        .collect::<io::Result<_>>()?;
    Ok(serde_json::from_value(Value::Array(operations))?)
}
