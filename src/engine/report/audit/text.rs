//! The audit as text: namespaces with their workloads, the worst first, each finding once with the number of its pods.

use super::json::{AuditDocument, ChangeEntry, FindingEntry, NamespaceEntry, WorkloadEntry};
use crate::report::baseline_comparison_text;
use crate::report::review_text::{BOLD, CYAN, DIM, GREEN, RED, YELLOW};
use crate::report::unread_by_audit::WhyKindIsNotKnown;
use crate::rules::{NO_PROFILE, Severity, find_rule};
use crate::text::count_with_noun;
use crate::text::{cut_without_runner_commands as shown_and_cut, text_without_runner_commands as shown};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Writes the audit. Without `verbose`, workloads with nothing to look at are counted, and changes are shown in short.
///
/// # Errors
/// Those of the writer.
pub fn write(out: &mut dyn Write, audit: &AuditDocument, verbose: bool) -> io::Result<()> {
    write_note_on_partial_result(out, audit)?;
    if let Some(comparison) = &audit.comparison {
        baseline_comparison_text::write(out, comparison)?;
    }
    let mut by_namespace: BTreeMap<_, Vec<&WorkloadEntry>> = BTreeMap::new();
    for workload in audit.workloads.iter().filter(|w| w.makes_pods && (verbose || is_shown(w))) {
        by_namespace.entry(&workload.object.namespace).or_default().push(workload);
    }
    for namespace in &audit.namespaces {
        if let Some(shown) = by_namespace.get(&namespace.name) {
            namespace_line(out, namespace)?;
            shown.iter().try_for_each(|workload| self::write_workload(out, workload, verbose))?;
        }
    }
    let others = audit.workloads.iter().filter(|w| !w.makes_pods && (verbose || is_shown(w)));
    let others: Vec<&WorkloadEntry> = others.collect();
    if !others.is_empty() {
        writeln!(out, "\n{BOLD}Networks, policies and profiles{BOLD:#}")?;
        others.iter().try_for_each(|workload| self::write_workload(out, workload, verbose))?;
    }
    write_suppressions(out, audit)?;
    write_summary(out, audit, verbose)
}

fn is_shown(workload: &WorkloadEntry) -> bool {
    let noted = |f: &FindingEntry| f.severity >= Severity::Warning || f.rule == NO_PROFILE.id;
    workload.findings.iter().any(noted)
        || !workload.changes.is_empty()
        || workload.restart.pods > 0
        || workload.unreadable_pods > 0
}

fn write_note_on_partial_result(out: &mut dyn Write, audit: &AuditDocument) -> io::Result<()> {
    if !audit.partial {
        return Ok(());
    }
    let kinds =
        (!audit.gaps.is_empty()).then(|| format!("{} unknown", count_with_noun(audit.gaps.len(), "kind")));
    let errors = (!audit.errors.is_empty()).then(|| count_with_noun(audit.errors.len(), "input error"));
    let parts: Vec<String> = kinds.into_iter().chain(errors).collect();
    writeln!(out, "{YELLOW}PARTIAL RESULT{YELLOW:#}: {}", parts.join(", "))?;
    for gap in &audit.gaps {
        writeln!(out, "  {} ({}): {}", shown(&gap.kind), shown(&gap.api_version), gap.effect)?;
        writeln!(out, "      {DIM}{}{DIM:#}", shown_and_cut(&gap.message, 300))?;
    }
    if audit.gaps.iter().any(|gap| gap.cause == WhyKindIsNotKnown::Forbidden) {
        writeln!(out, "  Bind ClusterRole fabric-admission-auditor to your account to read every kind.")?;
    }
    Ok(())
}

fn namespace_line(out: &mut dyn Write, n: &NamespaceEntry) -> io::Result<()> {
    let name = n.name.as_deref().map_or("(no namespace)".to_owned(), |name| shown_and_cut(name, 63));
    let mode = match (n.mode, n.known) {
        (Some(mode), _) => format!("mode {mode}"),
        (None, true) => "not opted in; results as in a namespace that opted in".to_owned(),
        (None, false) => "label unknown; results as in a namespace that opted in".to_owned(),
    };
    write!(out, "\n{BOLD}{name}{BOLD:#}  ({mode})  ")?;
    writeln!(
        out,
        "{}, {}: {} refused, {} changed, {} different on restart",
        count_with_noun(n.workloads, "workload"),
        count_with_noun(n.pods, "pod"),
        n.refused,
        n.changed,
        n.restart
    )
}

fn write_workload(out: &mut dyn Write, w: &WorkloadEntry, verbose: bool) -> io::Result<()> {
    let (style, verdict) = match (w.makes_pods, w.verdict, w.findings.first().map(|f| f.severity)) {
        (true, "deny", _) => (RED, "REFUSE"),
        (true, "unknown", _) => (YELLOW, "UNREAD"),
        (true, ..) => (GREEN, "ADMIT "),
        (false, _, Some(Severity::Error)) => (RED, "ERROR "),
        (false, _, Some(Severity::Warning)) => (YELLOW, "WARN  "),
        (false, ..) => (CYAN, "INFO  "),
    };
    let (kind, name) =
        (shown_and_cut(&w.object.kind, 60), shown_and_cut(&w.object.name_or_generate_name(), 253));
    // Workloads stand below their namespace.
    let place = w.object.namespace.as_deref().filter(|_| !w.makes_pods);
    let place = place.map(|n| format!("{}/", shown_and_cut(n, 63))).unwrap_or_default();
    write!(out, "{style}{verdict}{style:#}  {BOLD}{kind} {place}{name}{BOLD:#}")?;
    if w.pods > 0 {
        write!(out, "  {}", count_with_noun(w.pods, "pod"))?;
    }
    match (&w.profile, &w.evidence) {
        (Some(profile), Some(evidence)) => {
            writeln!(out, "  {DIM}(profile {}, {}){DIM:#}", shown(profile), shown(evidence))?;
        }
        (None, Some(evidence)) => writeln!(out, "  {DIM}({}){DIM:#}", shown(evidence))?,
        _ => writeln!(out)?,
    }
    for finding in w.findings.iter().filter(|f| verbose || !is_quiet(f)) {
        self::write_finding(out, finding)?;
    }
    write_changes(out, &w.changes, verbose)?;
    write_differences_after_restart(out, w)?;
    if w.unreadable_pods > 0 {
        writeln!(out, "  {RED}{} cannot be read{RED:#}", count_with_noun(w.unreadable_pods, "pod"))?;
    }
    if w.left_out > 0 {
        writeln!(out, "  {DIM}{} not listed{DIM:#}", count_with_noun(w.left_out, "more finding or change"))?;
    }
    Ok(())
}

fn is_quiet(finding: &FindingEntry) -> bool {
    finding.severity == Severity::Info && find_rule(finding.rule).is_some_and(|rule| rule.quiet)
}

fn write_finding(out: &mut dyn Write, f: &FindingEntry) -> io::Result<()> {
    let style = match f.severity {
        Severity::Error => RED,
        Severity::Warning => YELLOW,
        Severity::Info => CYAN,
    };
    let whom = match (f.template, f.pods) {
        (true, 0) => String::new(),
        (true, pods) => format!(" (template, {})", count_with_noun(pods, "pod")),
        (false, pods) => format!(" ({})", count_with_noun(pods, "pod")),
    };
    let message = shown(&f.message);
    writeln!(out, "  {style}{} {}{style:#} {message}{DIM}{whom}{DIM:#}", f.severity, f.rule)?;
    let path = if f.named_path.is_empty() { "(whole object)" } else { &f.named_path };
    writeln!(out, "      {DIM}at  {}{DIM:#}", shown(path))?;
    writeln!(out, "      fix {}", shown(&f.fix))
}

fn write_changes(out: &mut dyn Write, changes: &[ChangeEntry], verbose: bool) -> io::Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    if !verbose {
        return writeln!(
            out,
            "  {GREEN}+{GREEN:#} {} to new pods (-v lists them)",
            count_with_noun(changes.len(), "change")
        );
    }
    for change in changes {
        let owner =
            change.container.as_deref().map(|c| format!("{}: ", shown_and_cut(c, 63))).unwrap_or_default();
        writeln!(out, "  {GREEN}+{GREEN:#} {owner}{}", shown(&change.summary))?;
        writeln!(out, "      {DIM}{}{DIM:#}", shown(&change.reason))?;
    }
    Ok(())
}

fn write_differences_after_restart(out: &mut dyn Write, w: &WorkloadEntry) -> io::Result<()> {
    if w.restart.pods == 0 {
        return Ok(());
    }
    let mut parts = Vec::new();
    for (pods, words) in [
        (w.restart.refused, "refused"),
        (w.restart.changed, "changed"),
        (w.restart.outdated, "with other profile settings"),
    ] {
        if pods > 0 {
            parts.push(format!("{pods} {words}"));
        }
    }
    let condition = if w.mode == Some("enforce") { "on restart" } else { "on restart in mode enforce" };
    let (some, all) = (w.restart.pods, count_with_noun(w.pods, "pod"));
    writeln!(out, "  {YELLOW}~{YELLOW:#} {condition}, {some} of {all} differ: {}", parts.join(", "))
}

fn write_suppressions(out: &mut dyn Write, audit: &AuditDocument) -> io::Result<()> {
    let stale: Vec<_> = audit
        .suppressions
        .iter()
        .filter(|s| s.state != super::suppressions::SuppressionState::Used)
        .collect();
    if stale.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{BOLD}Annotations that ignore findings{BOLD:#}")?;
    for s in stale {
        let (rule, object) = (shown(&s.rule), shown(&s.object.kind_namespace_and_name()));
        write!(out, "  {rule} {object}: {}", s.state.words())?;
        if s.reason.is_empty() {
            writeln!(out)?
        } else {
            writeln!(out, "  {DIM}{}{DIM:#}", shown(&s.reason))?
        }
    }
    Ok(())
}

fn write_summary(out: &mut dyn Write, audit: &AuditDocument, verbose: bool) -> io::Result<()> {
    let s = &audit.summary;
    let style = if s.refused > 0 { RED } else { BOLD };
    let hidden = audit.workloads.iter().filter(|w| !verbose && !is_shown(w)).count();
    writeln!(out)?;
    if s.without_profile > 0 {
        let (match_, get) = if s.without_profile == 1 { ("matches", "gets") } else { ("match", "get") };
        let workloads = count_with_noun(s.without_profile, "workload");
        writeln!(
            out,
            "{CYAN}info {}{CYAN:#} {workloads} {match_} no fabric profile and {get} no RDMA network",
            NO_PROFILE.id
        )?;
    }
    write!(
        out,
        "{style}{} in {} ({} opted in), {}: {} refused, {} with warnings, {} changed, {} different on restart{style:#}",
        count_with_noun(s.workloads, "workload"),
        count_with_noun(s.namespaces, "namespace"),
        s.opted_in,
        count_with_noun(s.pods, "pod"),
        s.refused,
        s.warned,
        s.changed,
        s.restart
    )?;
    if s.other_objects > 0 {
        write!(out, "; {} with findings", count_with_noun(s.other_objects, "other object"))?;
    }
    if s.finished > 0 {
        write!(out, "; {} finished", s.finished)?;
    }
    if hidden > 0 {
        write!(out, "; {} hidden (-v shows them)", count_with_noun(hidden, "workload"))?;
    }
    if !audit.errors.is_empty() {
        write!(out, "; {RED}{}{RED:#}", count_with_noun(audit.errors.len(), "input error"))?;
    }
    if audit.partial {
        write!(out, "; {YELLOW}partial{YELLOW:#}")?;
    }
    writeln!(out)
}
