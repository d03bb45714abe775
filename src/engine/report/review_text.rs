//! The review as text, to be read at three in the morning: a line of verdict for each object, the
//! changes with their reasons, the findings with their fixes, and a summary.

use super::review_summary_by_rule::{ByRule, RuleCount};
use super::source_line_snippet::{LinesOfFile, snippet};
use super::terminal_lines::{columns, without_backticks, wrapped};
use super::{Located, Place, ReviewedObject, Skipped, Summary, message_with_profile_that_sets_value};
use crate::facts::PROFILE_ANNOTATION;
use crate::plan::Change;
use crate::review::Decision;
use crate::rules::which_findings_annotations_ignore::Suppressed;
use crate::rules::{Finding, NO_PROFILE, Severity, find_rule};
use crate::text::count_with_noun;
use crate::text::{cut_without_runner_commands as shown_and_cut, text_without_runner_commands as shown};
use anstyle::{AnsiColor, Style};
use std::io::{self, Write};

pub(super) const BOLD: Style = Style::new().bold();
pub(super) const DIM: Style = Style::new().dimmed();
pub(super) const GREEN: Style = AnsiColor::Green.on_default();
pub(super) const RED: Style = AnsiColor::Red.on_default().bold();
pub(super) const YELLOW: Style = AnsiColor::Yellow.on_default();
pub(super) const CYAN: Style = AnsiColor::Cyan.on_default();

/// What of a review is shown, and how wide.
#[derive(Debug, Clone, Copy)]
pub struct WhatReviewShows {
    /// Whether to show information of the rules whose findings are often intended.
    pub verbose: bool,
    /// Whether to leave out objects without findings, changes and ignored findings.
    pub only_findings: bool,
    /// Columns of the terminal.
    pub width: usize,
}

impl WhatReviewShows {
    /// Everything, unwrapped.
    pub(super) const WHOLE: Self = Self { verbose: true, only_findings: false, width: usize::MAX };

    /// Whether the report shows a finding: an info of a quiet rule only where it is verbose.
    #[must_use]
    pub fn shows(&self, finding: &Finding) -> bool {
        self.verbose
            || finding.severity != Severity::Info
            || find_rule(finding.rule).is_none_or(|rule| !rule.quiet)
    }
}

/// Writes one result, with the lines of its file where they are known. Returns how many findings it left out because
/// they are often intended.
///
/// # Errors
/// Those of the writer.
pub fn write_result_and_count_hidden(
    out: &mut dyn Write,
    r: &ReviewedObject,
    view: WhatReviewShows,
    lines: Option<&LinesOfFile<'_>>,
) -> io::Result<usize> {
    if view.only_findings && !r.findings.iter().any(|found| view.shows(&found.item)) {
        return Ok(r.findings.len());
    }
    write_verdict_line(out, r)?;
    write_changes_findings_and_ignored(out, r, view, lines)
}

/// The line of verdict.
pub(super) fn write_verdict_line(out: &mut dyn Write, r: &ReviewedObject) -> io::Result<()> {
    let decision = &r.decision;
    let (style, verdict) = match (decision.denied, decision.would_deny) {
        (true, _) => (RED, "DENY "),
        (false, true) => (YELLOW, "ALLOW"),
        (false, false) => (GREEN, "ALLOW"),
    };
    write!(
        out,
        "{style}{verdict}{style:#}  {BOLD}{}{BOLD:#}  {}",
        file_and_line(r),
        kind_name_and_template(r)
    )?;
    match reason_of_verdict(r) {
        why if why.is_empty() => writeln!(out)?,
        why => writeln!(out, "  {DIM}{}{DIM:#}", shown(&why))?,
    }
    Ok(())
}

/// Changes and findings; returns how many findings it left out.
pub(super) fn write_changes_findings_and_ignored(
    out: &mut dyn Write,
    r: &ReviewedObject,
    view: WhatReviewShows,
    lines: Option<&LinesOfFile<'_>>,
) -> io::Result<usize> {
    let decision = &r.decision;
    if !view.only_findings {
        for change in &decision.plan.changes {
            change_lines(out, change, &r.containers, view.width)?;
        }
    }
    let mut hidden = 0;
    for found in &r.findings {
        if view.shows(&found.item) {
            write_finding(out, decision, found, view.width, lines)?;
        } else {
            hidden += 1;
        }
    }
    if view.only_findings {
        return Ok(hidden);
    }
    for Located { item: Suppressed { finding, reason }, place, .. } in r.suppressed.iter().chain(&r.waived) {
        let Place { line, column } = place;
        let start = format!("  ignored {} {line}:{column} ", finding.rule);
        let message = wrapped(&finding.message, columns(&start), FIELD_NAME_INDENT, view.width);
        writeln!(out, "{DIM}{start}{message}")?;
        writeln!(out, "      because {}{DIM:#}", wrapped(reason, 14, FIELD_TEXT_INDENT, view.width))?;
    }
    Ok(hidden)
}

/// Where the names of a finding's fields begin, and where their texts do.
const FIELD_NAME_INDENT: usize = 6;
const FIELD_TEXT_INDENT: usize = 10;

/// File and line.
#[must_use]
pub fn file_and_line(r: &ReviewedObject) -> String {
    format!("{}:{}", shown_and_cut(&r.source.file, 300), r.source.line)
}

/// Kind, name and, unless it is a pod itself, the template's pointer, for lines that people read.
#[must_use]
pub fn kind_name_and_template(r: &ReviewedObject) -> String {
    let name = match (&r.name, &r.generate_name) {
        (Some(name), _) if !name.is_empty() => shown_and_cut(name, 80),
        (_, Some(prefix)) => format!("{}*", shown_and_cut(prefix, 80)),
        _ => "(no name)".to_owned(),
    };
    let namespace = r.namespace.as_deref().map(|n| format!("{}/", shown_and_cut(n, 63))).unwrap_or_default();
    let template = match r.template.as_deref() {
        Some(pointer) if !pointer.is_empty() => format!(" {pointer}"),
        _ => String::new(),
    };
    shown(&format!("{} {namespace}{name}{template}", shown_and_cut(&r.kind, 60)))
}

/// The reason of the verdict, in brackets.
fn reason_of_verdict(r: &ReviewedObject) -> String {
    let decision = &r.decision;
    let mut parts = Vec::new();
    if !r.opted_in {
        parts.push("namespace not opted in: the API server does not call the webhook".to_owned());
    } else if decision.would_deny {
        parts.push("mode audit; mode enforce would deny it".to_owned());
    }
    match (&decision.profile, &decision.evidence) {
        (Some(profile), Some(evidence)) => parts.push(format!("profile {profile}, {evidence}")),
        (None, Some(evidence)) => parts.push(evidence.clone()),
        _ => {}
    }
    let changes = decision.plan.changes.len();
    if changes > 0 {
        parts.push(count_with_noun(changes, "change"));
    } else if r.findings.is_empty() && r.waived.is_empty() && r.repeated.count == 0 && r.not_shown == 0 {
        let words = match (decision.in_scope, decision.rules_only) {
            (true, false) => "fits as it is",
            (true, true) => "requests no accelerator; no problem found",
            (false, _) => "requests no accelerator",
        };
        parts.push(words.to_owned());
    }
    match r.repeated.count {
        0 => {}
        n => parts.push(format!("{} reported above", count_with_noun(n, "finding"))),
    }
    match r.not_shown {
        0 => {}
        n => parts.push(format!("{} not shown", count_with_noun(n, "finding"))),
    }
    if parts.is_empty() { String::new() } else { format!("({})", parts.join("; ")) }
}

fn change_lines(out: &mut dyn Write, change: &Change, containers: &[String], width: usize) -> io::Result<()> {
    let owner = change.edit.container().and_then(|i| containers.get(i));
    let owner = owner.map(|name| format!("{}: ", shown_and_cut(name, 63))).unwrap_or_default();
    // `~` for a value that is raised or extended, `+` for a new one.
    let sign = if change.edit.is_new() { '+' } else { '~' };
    writeln!(out, "  {GREEN}{sign}{GREEN:#} {owner}{}", shown_and_cut(&change.edit.summary(), 4000))?;
    writeln!(
        out,
        "      {DIM}{}{DIM:#}",
        wrapped(&change.reason, FIELD_NAME_INDENT, FIELD_NAME_INDENT, width)
    )
}

/// The colour of a severity.
fn style_of(severity: Severity) -> Style {
    match severity {
        Severity::Error => RED,
        Severity::Warning => YELLOW,
        Severity::Info => CYAN,
    }
}

/// Writes a finding: what is wrong, the line of the file, the field and the fix.
///
/// # Errors
/// Those of the writer.
pub fn write_finding(
    out: &mut dyn Write,
    decision: &Decision,
    found: &Located<Finding>,
    width: usize,
    lines: Option<&LinesOfFile<'_>>,
) -> io::Result<()> {
    let Located { item: finding, place, repeats, .. } = found;
    let severity = finding.severity;
    let style = style_of(severity);
    let Place { line, column } = place;
    let more = if *repeats == 0 { String::new() } else { format!(" ({repeats} more like this)") };
    let start = format!("  {severity} {} {line}:{column} ", finding.rule);
    let known = if found.is_in_baseline() { " (in the baseline)" } else { "" };
    let message = format!("{}{more}{known}", message_with_profile_that_sets_value(decision, finding));
    let message = wrapped(&message, columns(&start), FIELD_NAME_INDENT, width);
    writeln!(out, "  {style}{severity} {}{style:#} {line}:{column} {message}", finding.rule)?;
    // A whole object has no place of its own, and the file does not have what the plan adds.
    if !finding.path.is_empty()
        && !decision.plan.adds(&finding.path)
        && let Some(text) = lines.and_then(|lines| lines.line_short_enough_to_show(*line))
    {
        let number = line.to_string();
        let room = width.saturating_sub(FIELD_NAME_INDENT + number.len() + 3);
        if let Some(snippet) = snippet(text, *column, room) {
            let blank = " ".repeat(number.len());
            writeln!(out, "      {DIM}{number} |{DIM:#} {}", snippet.line)?;
            let margin = snippet.marks.len() - snippet.marks.trim_start().len();
            let (before, marks) = snippet.marks.split_at_checked(margin).unwrap_or(("", &snippet.marks));
            writeln!(out, "      {DIM}{blank} |{DIM:#} {before}{style}{marks}{style:#}")?;
        }
    }
    let path = if finding.path.is_empty() { "(whole object)" } else { &finding.path };
    writeln!(out, "      {DIM}at  {}{DIM:#}", shown(path))?;
    writeln!(out, "      fix {}", wrapped(&finding.fix, FIELD_TEXT_INDENT, FIELD_TEXT_INDENT, width))?;
    match finding.because {
        Some(reason) => {
            let start = format!("      {severity} because ");
            let reason = wrapped(reason, columns(&start), FIELD_TEXT_INDENT, width);
            writeln!(out, "{DIM}{start}{reason}{DIM:#}")
        }
        None => Ok(()),
    }
}

/// Writes the findings by rule.
///
/// # Errors
/// Those of the writer.
pub fn write_findings_by_rule(out: &mut dyn Write, counts: &ByRule, width: usize) -> io::Result<()> {
    let rows = counts.rows();
    let Some(first) = rows.first() else { return Ok(()) };
    let digits = rows.iter().map(|row| row.count.to_string().len()).max().unwrap_or_default();
    writeln!(out, "\nfindings by rule")?;
    for RuleCount { rule, severity, count, summary } in &rows {
        let style = style_of(*severity);
        let (severity, start) = (severity.to_string(), 19 + digits);
        let summary = without_backticks(summary);
        let summary = wrapped(&summary, start, start, width);
        writeln!(out, "  {style}{severity:<7} {rule}{style:#} {count:>digits$}  {summary}")?;
    }
    writeln!(out, "{DIM}To explain a rule, run fabric-admission explain {}.{DIM:#}", first.rule)
}

/// Writes a skipped object.
///
/// # Errors
/// Those of the writer.
pub fn write_skipped(out: &mut dyn Write, skipped: &Skipped) -> io::Result<()> {
    let (file, reason) = (shown_and_cut(&skipped.source.file, 300), shown(&skipped.reason));
    writeln!(out, "{DIM}SKIP   {file}:{}  {reason}{DIM:#}", skipped.source.line)
}

/// Writes the last lines. `hidden`: findings that were left out.
///
/// # Errors
/// Those of the writer.
pub fn write_summary(out: &mut dyn Write, s: &Summary, hidden: usize, width: usize) -> io::Result<()> {
    let style = if s.denied > 0 || s.errors > 0 { RED } else { BOLD };
    writeln!(out)?;
    if s.without_profile > 0 {
        write_count_without_profile(out, s.without_profile, width)?;
    }
    write!(
        out,
        "{style}{}, {} reviewed: {} denied, {} with warnings, {} changed{style:#}",
        count_with_noun(s.documents, "document"),
        s.results,
        s.denied,
        s.warned,
        s.mutated
    )?;
    if s.skipped > 0 {
        write!(out, "; {} skipped", s.skipped)?;
    }
    if s.unreadable > 0 {
        write!(out, "; {RED}partial result: {} unreadable{RED:#}", count_with_noun(s.unreadable, "input"))?;
    }
    if hidden > 0 {
        write!(out, "; {} hidden (-v shows them)", count_with_noun(hidden, "note"))?;
    }
    writeln!(out)
}

/// One line for all pods without a profile: without profiles at hand nearly every pod of a review is one.
fn write_count_without_profile(out: &mut dyn Write, pods: usize, width: usize) -> io::Result<()> {
    let (match_, get) = if pods == 1 { ("matches", "gets") } else { ("match", "get") };
    let text = format!(
        "{} {match_} no fabric profile and {get} no RDMA network: add --profile NAME, --profiles PATH or --cluster PATH, or \
         annotate the pod template with {PROFILE_ANNOTATION}: NAME",
        count_with_noun(pods, "pod")
    );
    writeln!(out, "{CYAN}info {}{CYAN:#} {}", NO_PROFILE.id, wrapped(&text, 12, FIELD_NAME_INDENT, width))
}
