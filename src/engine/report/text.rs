//! The review as text, to be read at three in the morning: a line of verdict for each object, the
//! changes with their reasons, the findings with their fixes, and a summary.

use super::{Located, Place, Reviewed, Skipped, Summary, message};
use crate::plan::Change;
use crate::review::Decision;
use crate::rules::suppression::Suppressed;
use crate::rules::{Finding, Severity};
use crate::text::{count, printable};
use anstyle::{AnsiColor, Style};
use std::io::{self, Write};

pub(super) const BOLD: Style = Style::new().bold();
pub(super) const DIM: Style = Style::new().dimmed();
pub(super) const GREEN: Style = AnsiColor::Green.on_default();
const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default();
const CYAN: Style = AnsiColor::Cyan.on_default();

/// Writes one result.
///
/// # Errors
/// Those of the writer.
pub fn result(out: &mut dyn Write, r: &Reviewed) -> io::Result<()> {
    head(out, r)?;
    body(out, r)
}

/// The line of verdict.
pub(super) fn head(out: &mut dyn Write, r: &Reviewed) -> io::Result<()> {
    let decision = &r.decision;
    let (style, verdict) = match (decision.denied, decision.would_deny) {
        (true, _) => (RED, "DENY "),
        (false, true) => (YELLOW, "ALLOW"),
        (false, false) => (GREEN, "ALLOW"),
    };
    write!(out, "{style}{verdict}{style:#}  {BOLD}{}{BOLD:#}  {}", place(r), object(r))?;
    match outcome(r) {
        why if why.is_empty() => writeln!(out)?,
        why => writeln!(out, "  {DIM}{why}{DIM:#}")?,
    }
    Ok(())
}

/// Changes and findings.
pub(super) fn body(out: &mut dyn Write, r: &Reviewed) -> io::Result<()> {
    let decision = &r.decision;
    for change in &decision.plan.changes {
        change_lines(out, change, &r.containers)?;
    }
    for Located { item, place } in &r.findings {
        finding_lines(out, decision, item, *place)?;
    }
    for Located { item: Suppressed { finding, reason }, place } in &r.suppressed {
        let Place { line, column } = place;
        writeln!(out, "  {DIM}ignored {} {line}:{column} {}", finding.rule, finding.message)?;
        writeln!(out, "      because {reason}{DIM:#}")?;
    }
    Ok(())
}

fn place(r: &Reviewed) -> String {
    format!("{}:{}", printable(&r.source.file, 300), r.source.line)
}

/// Kind, name and, unless it is a pod itself, the template's pointer.
fn object(r: &Reviewed) -> String {
    let name = match (&r.name, &r.generate_name) {
        (Some(name), _) if !name.is_empty() => printable(name, 80),
        (_, Some(prefix)) => format!("{}*", printable(prefix, 80)),
        _ => "(no name)".to_owned(),
    };
    let namespace = r.namespace.as_deref().map(|n| format!("{}/", printable(n, 63))).unwrap_or_default();
    let template = match r.template.as_deref() {
        Some(pointer) if !pointer.is_empty() => format!(" {pointer}"),
        _ => String::new(),
    };
    format!("{} {namespace}{name}{template}", printable(&r.kind, 60))
}

/// The reason of the verdict, in brackets.
fn outcome(r: &Reviewed) -> String {
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
        parts.push(count(changes, "change"));
    } else if r.findings.is_empty() {
        let words = match (decision.in_scope, decision.rules_only) {
            (true, false) => "fits as it is",
            (true, true) => "asks for no accelerator; no problem found",
            (false, _) => "asks for no accelerator",
        };
        parts.push(words.to_owned());
    }
    if parts.is_empty() { String::new() } else { format!("({})", parts.join("; ")) }
}

fn change_lines(out: &mut dyn Write, change: &Change, containers: &[String]) -> io::Result<()> {
    let owner = change.edit.container().and_then(|i| containers.get(i));
    let owner = owner.map(|name| format!("{}: ", printable(name, 63))).unwrap_or_default();
    // `~` for a value that is raised or extended, `+` for a new one.
    let sign = if change.edit.is_new() { '+' } else { '~' };
    writeln!(out, "  {GREEN}{sign}{GREEN:#} {owner}{}", printable(&change.edit.summary(), 4000))?;
    writeln!(out, "      {DIM}{}{DIM:#}", change.reason)
}

fn finding_lines(
    out: &mut dyn Write,
    decision: &Decision,
    finding: &Finding,
    place: Place,
) -> io::Result<()> {
    let style = match finding.severity {
        Severity::Error => RED,
        Severity::Warning => YELLOW,
        Severity::Info => CYAN,
    };
    let Place { line, column } = place;
    writeln!(
        out,
        "  {style}{} {}{style:#} {line}:{column} {}",
        finding.severity,
        finding.rule,
        message(decision, finding)
    )?;
    let path = if finding.path.is_empty() { "(whole object)" } else { &finding.path };
    writeln!(out, "      {DIM}at  {path}{DIM:#}")?;
    writeln!(out, "      fix {}", finding.fix)
}

/// Writes a skipped object.
///
/// # Errors
/// Those of the writer.
pub fn skipped(out: &mut dyn Write, skipped: &Skipped) -> io::Result<()> {
    let file = printable(&skipped.source.file, 300);
    writeln!(out, "{DIM}SKIP   {file}:{}  {}{DIM:#}", skipped.source.line, skipped.reason)
}

/// Writes the last line.
///
/// # Errors
/// Those of the writer.
pub fn summary(out: &mut dyn Write, s: &Summary) -> io::Result<()> {
    let style = if s.denied > 0 || s.errors > 0 { RED } else { BOLD };
    write!(
        out,
        "\n{style}{}, {} reviewed: {} denied, {} with warnings, {} changed{style:#}",
        count(s.documents, "document"),
        s.results,
        s.denied,
        s.warned,
        s.mutated
    )?;
    if s.skipped > 0 {
        write!(out, "; {} skipped", s.skipped)?;
    }
    if s.errors > 0 {
        write!(out, "; {RED}{} while reading inputs{RED:#}", count(s.errors, "error"))?;
    }
    writeln!(out)
}
