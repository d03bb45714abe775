//! How a profile was found, as text: the steps, the excluded nodes, and what each profile would need.

use super::shown_entries_and_rest;
use crate::report::ReviewedObject;
use crate::report::review_text::{
    BOLD, DIM, GREEN, WhatReviewShows, write_changes_findings_and_ignored, write_verdict_line,
};
use crate::resolve::explain_resolution::ExplainedProfile;
use crate::text::count_with_noun;
use crate::text::text_without_runner_commands as shown;
use std::io::{self, Write};

/// Writes one result as text.
///
/// # Errors
/// Those of the writer.
pub fn write_result(out: &mut dyn Write, reviewed: &ReviewedObject) -> io::Result<()> {
    write_verdict_line(out, reviewed)?;
    let Some(why) = &reviewed.why else { return Ok(()) };
    if let Some(then) = &why.then {
        writeln!(out, "{BOLD}created with{BOLD:#}  {}", shown(&then.mark))?;
        writeln!(out, "     {}", shown(&then.words()))?;
    }
    writeln!(out, "{BOLD}steps{BOLD:#}")?;
    for step in &why.steps {
        let mark = if step.decides { "->" } else { "  " };
        writeln!(out, "  {GREEN}{mark}{GREEN:#} {:<11} {}", step.name, shown(&step.said))?;
    }
    let (held, more) = shown_entries_and_rest(&reviewed.decision.also_held);
    for name in held.iter().map(|name| shown(name)) {
        writeln!(
            out,
            "     also holds  the required and forbidden values of profile {name} of the pod's nodes"
        )?;
    }
    if more > 0 {
        writeln!(out, "     also holds  those of {more} more profiles of the pod's nodes")?;
    }
    if let Some(landing) = why.landing.as_ref().filter(|l| !l.dropped.first.is_empty()) {
        writeln!(out, "{BOLD}excluded nodes{BOLD:#}")?;
        for d in &landing.dropped.first {
            writeln!(out, "     {} by {}", count_with_noun(d.nodes, "node"), shown(&d.by))?;
        }
        let shown: usize = landing.dropped.first.iter().map(|d| d.nodes).sum();
        let rest = landing.nodes.saturating_sub(landing.fits + shown);
        more_reasons(out, "     ", rest, landing.dropped.more)?;
    }
    if !why.profiles.shown.is_empty() {
        writeln!(out, "{BOLD}profiles{BOLD:#}")?;
    }
    let width = why.profiles.shown.iter().map(|p| p.name.len()).max().unwrap_or(0).min(40);
    for profile in &why.profiles.shown {
        write_candidate(out, profile, width)?;
    }
    if why.profiles.more > 0 {
        writeln!(out, "     {} more profiles", why.profiles.more)?;
    }
    if !why.open.shown.is_empty() {
        writeln!(out, "{BOLD}profiles without spec.namespaces, which every namespace can use{BOLD:#}")?;
        let more = why.open.more;
        let more = if more > 0 { format!(", {more} more") } else { String::new() };
        writeln!(out, "     {}{more}", shown(&why.open.shown.join(", ")))?;
    }
    if let Some(user_fabric) = &reviewed.decision.plan.user_fabric {
        writeln!(out, "{BOLD}networks and units of the pod{BOLD:#}")?;
        writeln!(out, "     networks    {}", shown(&user_fabric.attachments_in_words()))?;
        writeln!(out, "     units       {}", shown(&user_fabric.units_in_words()))?;
        writeln!(out, "  {GREEN}->{GREEN:#} {}", shown(&user_fabric.result_in_words()))?;
    }
    let plain = reviewed.decision.plan.changes.is_empty() && reviewed.findings.is_empty();
    if !plain {
        writeln!(out, "{BOLD}changes and findings{BOLD:#}")?;
    }
    write_changes_findings_and_ignored(out, reviewed, WhatReviewShows::WHOLE, None).map(drop)
}

/// The line for the reasons that are not listed.
fn more_reasons(out: &mut dyn Write, before: &str, nodes: usize, reasons: usize) -> io::Result<()> {
    if reasons == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "{before}{DIM}{} by {} more taints, selectors or affinities{DIM:#}",
        count_with_noun(nodes, "node"),
        reasons
    )
}

fn write_candidate(out: &mut dyn Write, profile: &ExplainedProfile, width: usize) -> io::Result<()> {
    let mark = if profile.chosen { "->" } else { "  " };
    let nodes = match profile.nodes {
        Some((all, fits)) => {
            format!("the pod can run on {fits} of the profile's {}", count_with_noun(all, "node"))
        }
        None => "no known nodes".to_owned(),
    };
    writeln!(out, "  {GREEN}{mark}{GREEN:#} {:<width$}  {nodes}", shown(&profile.name))?;
    for d in &profile.dropped.first {
        writeln!(
            out,
            "     {:<width$}  {DIM}{} excluded by {}{DIM:#}",
            "",
            count_with_noun(d.nodes, "node"),
            shown(&d.by)
        )?;
    }
    if let Some((all, fits)) = profile.nodes.filter(|_| profile.dropped.more > 0) {
        let shown: usize = profile.dropped.first.iter().map(|d| d.nodes).sum();
        let before = format!("     {:<width$}  ", "");
        more_reasons(out, &before, all.saturating_sub(fits + shown), profile.dropped.more)?;
    }
    for need in &profile.needs {
        writeln!(out, "     {:<width$}  needs {}", "", shown(need))?;
    }
    Ok(())
}
