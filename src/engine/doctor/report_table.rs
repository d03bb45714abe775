//! The report as a table: a line for each check, and below each failure what to do.

use super::check_declaration::Section;
use super::check_outcome::Kind;
use super::doctor_report::{DoctorReportEntry, Report};
use crate::text::count_with_noun;
use anstyle::{AnsiColor, Style};
use std::io::{self, Write};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GREEN: Style = AnsiColor::Green.on_default();
const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default();

fn mark(kind: Kind) -> (Style, &'static str) {
    match kind {
        Kind::Success => (GREEN, "✔"),
        Kind::Warning => (YELLOW, "‼"),
        Kind::Error => (RED, "✖"),
        Kind::Skipped => (DIM, "-"),
    }
}

/// Writes the report.
///
/// # Errors
/// Those of the writer.
pub fn write(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    for category in &report.categories {
        writeln!(out, "{BOLD}{}{BOLD:#}", category.name)?;
        for check in &category.checks {
            write_check(out, check)?;
        }
        writeln!(out)?;
    }
    let [errors, warnings, skipped] =
        [Kind::Error, Kind::Warning, Kind::Skipped].map(|kind| report.count(kind));
    writeln!(
        out,
        "{}: {}, {}, {skipped} skipped",
        count_with_noun(report.checks().count(), "check"),
        count_with_noun(errors, "error"),
        count_with_noun(warnings, "warning")
    )?;
    let tries = report.categories.iter().any(|category| category.name == Section::Calls.title());
    if tries && !report.proved {
        writeln!(out, "No dry run has shown that the API server calls the webhook.")?;
    }
    Ok(())
}

/// Writes one check.
///
/// # Errors
/// Those of the writer.
pub fn write_check(out: &mut dyn Write, check: &DoctorReportEntry) -> io::Result<()> {
    let (style, sign) = mark(check.result);
    write!(out, "{style}{sign} {:<8}{style:#} {}", check.result.word(), check.description)?;
    // JSON has these texts as they are.
    let text = |text: &Option<String>| text.as_deref().map(crate::text::text_without_runner_commands);
    match text(&check.message) {
        Some(found) if check.result == Kind::Success => writeln!(out, ": {DIM}{found}{DIM:#}")?,
        Some(message) => writeln!(out, ": {message}")?,
        None => writeln!(out)?,
    }
    if let Some(hint) = text(&check.hint) {
        writeln!(out, "           hint: {hint}")?;
    }
    if matches!(check.result, Kind::Warning | Kind::Error) {
        writeln!(out, "           page: {}", check.page)?;
    }
    Ok(())
}
