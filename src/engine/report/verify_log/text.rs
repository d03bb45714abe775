//! The result as text: communicators with their groups of ranks, then findings.

use super::json::{CommunicatorEntry, FindingEntry, Nic, RanksWithEqualFacts, VerifyLogDocument};
use crate::report::review_text::{BOLD, CYAN, DIM, GREEN, RED, YELLOW};
use crate::report::terminal_lines::wrapped;
use crate::rules::Severity;
use crate::text::count_with_noun;
use crate::text::{cut_without_runner_commands as shown_and_cut, text_without_runner_commands};
use std::io::{self, Write};

/// Communicators, groups of one communicator, and names of one list that are shown; JSON has all.
const MAX_COMMUNICATORS: usize = 20;
const MAX_GROUPS: usize = 8;
const MAX_NAMES: usize = 8;
/// Findings that are shown.
const MAX_FINDINGS: usize = 50;

/// Columns before the text of a finding.
const INDENT: usize = 6;

/// Writes the result in lines of about `width` columns.
///
/// # Errors
/// Those of the writer.
pub fn write(out: &mut dyn Write, document: &VerifyLogDocument<'_>, width: usize) -> io::Result<()> {
    for communicator in document.communicators.iter().take(MAX_COMMUNICATORS) {
        self::write_communicator(out, communicator, width)?;
    }
    let more = document.communicators.len().saturating_sub(MAX_COMMUNICATORS);
    if more > 0 {
        writeln!(
            out,
            "{} not shown; -o json lists up to 4096 groups",
            count_with_noun(more, "more communicator")
        )?;
    }
    if !document.communicators.is_empty() && !document.findings.is_empty() {
        writeln!(out)?;
    }
    for finding in document.findings.iter().take(MAX_FINDINGS) {
        self::write_finding(out, finding, width)?;
    }
    let more = document.findings.len().saturating_sub(MAX_FINDINGS);
    if more > 0 {
        writeln!(
            out,
            "{} not shown; -o json lists up to 4096 groups",
            count_with_noun(more, "more finding")
        )?;
    }
    if let Some(text) = document.findings.iter().find_map(|finding| finding.explain.as_ref()) {
        writeln!(
            out,
            "To explain a line or a variable, run fabric-admission explain {}.",
            text_without_runner_commands(&quoted(text))
        )?;
    }
    if !document.communicators.is_empty() || !document.findings.is_empty() {
        writeln!(out)?;
    }
    write_summary(out, document)
}

fn quoted(text: &str) -> String {
    let text = text.split(" … ").next().unwrap_or(text);
    if text.contains(' ') { format!("\"{text}\"") } else { text.to_owned() }
}

fn write_communicator(
    out: &mut dyn Write,
    communicator: &CommunicatorEntry<'_>,
    width: usize,
) -> io::Result<()> {
    let size = communicator
        .size
        .map_or_else(|| "unknown number of ranks".to_owned(), |size| count_with_noun(size as usize, "rank"));
    let nodes = communicator.nodes.map(|nodes| count_with_noun(nodes as usize, "node"));
    let hosts = names(communicator.hosts.iter().copied(), communicator.hosts.len());
    let on = match (nodes, communicator.hosts.len()) {
        (Some(nodes), 0) => format!(" on {nodes}"),
        (Some(nodes), _) => format!(" on {nodes}: {hosts}"),
        (None, 0) => String::new(),
        (None, n) => format!(" on {}: {hosts}", count_with_noun(n, "host")),
    };
    writeln!(out, "{BOLD}communicator {}{BOLD:#}  {size}{on}", shown_and_cut(&communicator.id, 100))?;
    if communicator.mnnvl {
        writeln!(out, "  NVLink connects the nodes (MNNVL)")?;
    }
    for group in communicator.groups.iter().take(MAX_GROUPS) {
        self::write_group(out, group, communicator.crosses_network, width)?;
    }
    let more = communicator.groups.len().saturating_sub(MAX_GROUPS) + communicator.more_groups;
    if more > 0 {
        writeln!(
            out,
            "  {} with other facts not shown; -o json lists up to 4096 groups",
            count_with_noun(more, "more group")
        )?;
    }
    Ok(())
}

fn write_group(
    out: &mut dyn Write,
    group: &RanksWithEqualFacts<'_>,
    crosses: bool,
    width: usize,
) -> io::Result<()> {
    let noun = if group.count == 1 { "rank" } else { "ranks" };
    let network = group
        .network
        .map_or_else(|| "network unknown".to_owned(), |n| format!("network {}", shown_and_cut(n, 64)));
    let network = match group.transport {
        "tcp" if crosses => format!("{RED}{network} (TCP){RED:#}"),
        "tcp" => format!("{network} (TCP)"),
        "unknown" => network,
        _ => format!("{GREEN}{network}{GREEN:#}"),
    };
    let mut parts = vec![network];
    if !crosses {
        parts.push("not used".to_owned());
    }
    if group.transport != "tcp" && crosses {
        parts.push(match group.gpu_direct {
            Some("all") => "GPUDirect RDMA".to_owned(),
            Some("some") => format!("{YELLOW}GPUDirect RDMA in some connections{YELLOW:#}"),
            Some(_) => format!("{YELLOW}no GPUDirect RDMA{YELLOW:#}"),
            None => "GPUDirect RDMA unknown".to_owned(),
        });
    }
    parts.extend(group.channels.map(|channels| count_with_noun(usize::from(channels), "channel")));
    if group.pxn == Some(true) {
        parts.push("PXN".to_owned());
    }
    writeln!(out, "  {noun} {}  {}", group.ranks, parts.join(", "))?;
    let mut more = Vec::new();
    let nics: Vec<Nic<'_>> = group.nics.iter().collect();
    if !nics.is_empty() {
        let used = group.nics_used.map(|used| format!(", {used} used")).unwrap_or_default();
        more.push(format!("{}{used}: {}", count_with_noun(nics.len(), "NIC"), self::nics(&nics)));
    }
    more.extend(group.provider.map(|provider| format!("provider {}", shown_and_cut(provider, 64))));
    if !group.plugins.is_empty() {
        more.push(format!("plugin {}", shown_and_cut(&group.plugins.join(", "), 100)));
    }
    more.extend(group.bootstrap.map(|name| format!("bootstrap {}", shown_and_cut(name, 64))));
    more.extend(group.version.map(|version| format!("NCCL {}", shown_and_cut(version, 64))));
    if !more.is_empty() {
        writeln!(out, "      {DIM}{}{DIM:#}", wrapped(&more.join("; "), INDENT, INDENT, width))?;
    }
    Ok(())
}

/// `mlx5_0, mlx5_1 (RoCE)`: the link layer once if all have the same.
fn nics(nics: &[Nic<'_>]) -> String {
    let same = nics.iter().all(|nic| nics.first().is_some_and(|first| first.link == nic.link));
    let one = |nic: &Nic<'_>| if same { nic.name.to_owned() } else { format!("{}/{}", nic.name, nic.link) };
    let all: Vec<String> = nics.iter().map(one).collect();
    let link = nics.first().filter(|nic| same && !nic.link.is_empty()).map(|nic| format!(" ({})", nic.link));
    format!(
        "{}{}",
        names(all.iter().map(String::as_str), all.len()),
        shown_and_cut(&link.unwrap_or_default(), 40)
    )
}

/// The first names, and how many more there are.
fn names<'a>(all: impl Iterator<Item = &'a str>, number: usize) -> String {
    let shown: Vec<String> = all.take(MAX_NAMES).map(|name| shown_and_cut(name, 100)).collect();
    let more = number.saturating_sub(MAX_NAMES);
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}

fn write_finding(out: &mut dyn Write, finding: &FindingEntry, width: usize) -> io::Result<()> {
    let (style, name) = match finding.severity {
        Severity::Error => (RED, "error"),
        Severity::Warning => (YELLOW, "warning"),
        Severity::Info => (CYAN, "info"),
    };
    let file = finding.file.as_deref().map(|file| shown_and_cut(file, 400));
    let place = match (file, finding.line) {
        (Some(file), Some(line)) => format!(" {file}:{line}"),
        _ => String::new(),
    };
    let of = finding.communicator.as_deref().map(|id| format!("communicator {}: ", shown_and_cut(id, 100)));
    let message = format!("{}{}", of.unwrap_or_default(), shown_and_cut(&finding.message, 2000));
    let message = wrapped(&message, INDENT, INDENT, width);
    let fix = wrapped(&finding.fix, INDENT + 4, INDENT + 4, width);
    writeln!(
        out,
        "{style}{name:<7}{style:#} {BOLD}{}{BOLD:#}{place}\n      {message}\n      {DIM}fix{DIM:#} {fix}",
        finding.kind
    )?;
    if !finding.rules.is_empty() {
        writeln!(out, "      {DIM}rules{DIM:#} {}", finding.rules.join(", "))?;
    }
    Ok(())
}

/// Writes the last lines: result and counts.
///
/// # Errors
/// Those of the writer.
pub fn write_summary(out: &mut dyn Write, document: &VerifyLogDocument<'_>) -> io::Result<()> {
    let (counts, skipped) = (document.summary, document.skipped);
    let style = match document.result {
        "pass" => GREEN,
        "fail" => RED,
        _ => YELLOW,
    };
    writeln!(
        out,
        "{style}{}{style:#}: {}, {}, {}, {}; {}, {} of NCCL",
        document.result,
        count_with_noun(counts.communicators, "communicator"),
        count_with_noun(counts.ranks, "rank"),
        count_with_noun(counts.errors, "error"),
        count_with_noun(counts.warnings, "warning"),
        count_with_noun(usize::try_from(counts.lines).unwrap_or(usize::MAX), "line"),
        counts.nccl_lines
    )?;
    let parts = [
        (skipped.mixed, "line with text of two processes", "lines with text of two processes"),
        (skipped.cut, "half line", "incomplete lines"),
        (skipped.beyond_limits, "fact beyond the limits", "facts beyond the limits"),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, one, more)| format!("{number} {}", if *number == 1 { one } else { more }))
        .collect();
    if !parts.is_empty() {
        writeln!(out, "not used: {}", parts.join(", "))?;
    }
    Ok(())
}
