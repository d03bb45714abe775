//! The formats with verdicts, changes and findings: text and JSON.

use super::format_writer::{AfterAllDocuments, DocumentToWrite, FormatWriter, Sink};
use crate::cli::estimate::EstimateRequest;
use crate::report::baseline_comparison_text;
use crate::report::ci::text_without_runner_commands;
use crate::report::json_without_runner_commands::write_json;
use crate::report::review_json::{ResultEntry, SCHEMA};
use crate::report::review_summary_by_rule::ByRule;
use crate::report::review_text::{self, WhatReviewShows};
use std::io::{self, Write};

/// Skipped objects that text lists.
pub(super) const MAX_SKIPPED: usize = 10_000;

pub(super) struct Text {
    view: WhatReviewShows,
    hidden: usize,
    rules: ByRule,
    estimate: Option<EstimateRequest>,
}

impl Text {
    pub(super) fn new(view: WhatReviewShows, estimate: Option<EstimateRequest>) -> Self {
        Self { view, hidden: 0, rules: ByRule::default(), estimate }
    }

    /// A line for each workload of a document.
    fn write_estimates(&self, out: &mut dyn Write, reviewed: DocumentToWrite<'_>) -> io::Result<()> {
        let Some(asked) = &self.estimate else { return Ok(()) };
        for of_one in reviewed.review.estimated.chunk_by(|(one, _), (other, _)| one == other) {
            let templates: Vec<_> = of_one.iter().map(|(_, template)| *template).collect();
            if let (Some((workload, _)), Some(line)) =
                (of_one.first(), asked.estimate_workload_in_one_line(&templates))
            {
                let line = format!("{}: {line}", workload.name);
                writeln!(out, "ESTIMATE  {}", text_without_runner_commands(&line))?;
            }
        }
        Ok(())
    }
}

impl FormatWriter for Text {
    fn write_document(&mut self, out: &mut Sink<'_>, reviewed: DocumentToWrite<'_>) -> io::Result<()> {
        for result in &reviewed.review.results {
            self.hidden +=
                review_text::write_result_and_count_hidden(out, result, self.view, Some(reviewed.lines))?;
            let shown = result.findings.iter().filter(|found| self.view.shows(&found.item));
            shown.for_each(|found| self.rules.add_finding(found));
        }
        self.write_estimates(out, reviewed)
    }

    fn write_end(&mut self, out: &mut Sink<'_>, tail: &AfterAllDocuments) -> io::Result<()> {
        if !self.view.only_findings {
            let listed = tail.skipped.iter().take(MAX_SKIPPED);
            for skipped in listed.clone() {
                review_text::write_skipped(out, skipped)?;
            }
            if tail.summary.skipped > listed.len() {
                writeln!(out, "SKIP   {} more", tail.summary.skipped - listed.len())?;
            }
        }
        review_text::write_findings_by_rule(out, &self.rules, self.view.width)?;
        if let Some(comparison) = &tail.comparison {
            writeln!(out)?;
            baseline_comparison_text::write(out, comparison)?;
        }
        review_text::write_summary(out, &tail.summary, self.hidden, self.view.width)
    }
}

#[derive(Default)]
pub(super) struct Json {
    begun: bool,
    rules: ByRule,
}

impl FormatWriter for Json {
    fn write_begin(&mut self, out: &mut Sink<'_>) -> io::Result<()> {
        write!(out, "{{\"schema\":\"{SCHEMA}\",\n\"results\":[")
    }

    fn write_document(&mut self, out: &mut Sink<'_>, reviewed: DocumentToWrite<'_>) -> io::Result<()> {
        for reviewed in &reviewed.review.results {
            out.write_all(if self.begun { b",\n" } else { b"\n" })?;
            self.begun = true;
            write_json(&mut *out, &ResultEntry::from(reviewed))?;
            reviewed.findings.iter().for_each(|found| self.rules.add_finding(found));
        }
        Ok(())
    }

    fn write_end(&mut self, out: &mut Sink<'_>, tail: &AfterAllDocuments) -> io::Result<()> {
        write!(out, "],\n\"rules\":")?;
        write_json(&mut *out, &self.rules.rows())?;
        write!(out, ",\n\"baseline\":")?;
        write_json(&mut *out, &tail.comparison)?;
        write!(out, ",\n\"skipped\":")?;
        write_json(&mut *out, &tail.skipped)?;
        write!(out, ",\n\"errors\":")?;
        write_json(&mut *out, &tail.unread)?;
        write!(out, ",\n\"summary\":")?;
        write_json(&mut *out, &tail.summary)?;
        writeln!(out, "}}")
    }
}
