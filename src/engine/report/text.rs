//! The review as text, to be read at three in the morning: a line of verdict for each object, the
//! changes with their reasons, the findings with their fixes, and a summary.

use super::{Located, Place, Reviewed, Skipped, Summary, message};
use crate::facts::PROFILE_ANNOTATION;
use crate::plan::Change;
use crate::review::Decision;
use crate::rules::suppression::Suppressed;
use crate::rules::{Finding, NO_PROFILE, Severity, find};
use crate::text::{count, printable};
use anstyle::{AnsiColor, Style};
use std::io::{self, Write};

pub(super) const BOLD: Style = Style::new().bold();
pub(super) const DIM: Style = Style::new().dimmed();
pub(super) const GREEN: Style = AnsiColor::Green.on_default();
pub(super) const RED: Style = AnsiColor::Red.on_default().bold();
pub(super) const YELLOW: Style = AnsiColor::Yellow.on_default();
pub(super) const CYAN: Style = AnsiColor::Cyan.on_default();

/// Writes one result. Returns how many findings it left out: without `verbose`, information of the rules whose findings
/// are often intended.
///
/// # Errors
/// Those of the writer.
pub fn result(out: &mut dyn Write, r: &Reviewed, verbose: bool) -> io::Result<usize> {
    head(out, r)?;
    body(out, r, verbose)
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

/// Changes and findings; returns how many findings it left out.
pub(super) fn body(out: &mut dyn Write, r: &Reviewed, verbose: bool) -> io::Result<usize> {
    let decision = &r.decision;
    for change in &decision.plan.changes {
        change_lines(out, change, &r.containers)?;
    }
    let mut hidden = 0;
    for found in &r.findings {
        if !verbose && is_quiet(&found.item) {
            hidden += 1;
            continue;
        }
        finding_lines(out, decision, found)?;
    }
    for Located { item: Suppressed { finding, reason }, place, .. } in &r.suppressed {
        let Place { line, column } = place;
        writeln!(out, "  {DIM}ignored {} {line}:{column} {}", finding.rule, finding.message)?;
        writeln!(out, "      because {reason}{DIM:#}")?;
    }
    Ok(hidden)
}

fn is_quiet(finding: &Finding) -> bool {
    finding.severity == Severity::Info && find(finding.rule).is_some_and(|rule| rule.quiet)
}

/// File and line.
#[must_use]
pub fn place(r: &Reviewed) -> String {
    format!("{}:{}", printable(&r.source.file, 300), r.source.line)
}

/// Kind, name and, unless it is a pod itself, the template's pointer.
#[must_use]
pub fn object(r: &Reviewed) -> String {
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
    } else if r.findings.is_empty() && r.repeated.count == 0 {
        let words = match (decision.in_scope, decision.rules_only) {
            (true, false) => "fits as it is",
            (true, true) => "requests no accelerator; no problem found",
            (false, _) => "requests no accelerator",
        };
        parts.push(words.to_owned());
    }
    match r.repeated.count {
        0 => {}
        n => parts.push(format!("{} reported above", count(n, "finding"))),
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

fn finding_lines(out: &mut dyn Write, decision: &Decision, found: &Located<Finding>) -> io::Result<()> {
    let Located { item: finding, place, repeats } = found;
    let style = match finding.severity {
        Severity::Error => RED,
        Severity::Warning => YELLOW,
        Severity::Info => CYAN,
    };
    let Place { line, column } = place;
    let severity = finding.severity;
    let more = if *repeats == 0 { String::new() } else { format!(" ({repeats} more of the same)") };
    writeln!(
        out,
        "  {style}{severity} {}{style:#} {line}:{column} {}{more}",
        finding.rule,
        message(decision, finding)
    )?;
    let path = if finding.path.is_empty() { "(whole object)" } else { &finding.path };
    writeln!(out, "      {DIM}at  {path}{DIM:#}")?;
    writeln!(out, "      fix {}", finding.fix)?;
    match finding.because {
        Some(reason) => writeln!(out, "      {DIM}{severity} because {reason}{DIM:#}"),
        None => Ok(()),
    }
}

/// Writes a skipped object.
///
/// # Errors
/// Those of the writer.
pub fn skipped(out: &mut dyn Write, skipped: &Skipped) -> io::Result<()> {
    let file = printable(&skipped.source.file, 300);
    writeln!(out, "{DIM}SKIP   {file}:{}  {}{DIM:#}", skipped.source.line, skipped.reason)
}

/// Writes the last lines. `hidden`: findings that were left out.
///
/// # Errors
/// Those of the writer.
pub fn summary(out: &mut dyn Write, s: &Summary, hidden: usize) -> io::Result<()> {
    let style = if s.denied > 0 || s.errors > 0 { RED } else { BOLD };
    writeln!(out)?;
    if s.without_profile > 0 {
        without_profile(out, s.without_profile)?;
    }
    write!(
        out,
        "{style}{}, {} reviewed: {} denied, {} with warnings, {} changed{style:#}",
        count(s.documents, "document"),
        s.results,
        s.denied,
        s.warned,
        s.mutated
    )?;
    if s.skipped > 0 {
        write!(out, "; {} skipped", s.skipped)?;
    }
    if s.unreadable > 0 {
        write!(out, "; {RED}{} unreadable{RED:#}", count(s.unreadable, "input"))?;
    }
    if hidden > 0 {
        write!(out, "; {} hidden (-v shows them)", count(hidden, "note"))?;
    }
    writeln!(out)
}

/// One line for all pods without a profile: without profiles at hand nearly every pod of a review is one.
fn without_profile(out: &mut dyn Write, pods: usize) -> io::Result<()> {
    let (match_, get) = if pods == 1 { ("matches", "gets") } else { ("match", "get") };
    writeln!(
        out,
        "{CYAN}info {}{CYAN:#} {} {match_} no fabric profile and {get} no RDMA network: add --profile NAME, --profiles PATH \
         or --cluster PATH, or annotate the pod template with {PROFILE_ANNOTATION}: NAME",
        NO_PROFILE.id,
        count(pods, "pod")
    )
}
