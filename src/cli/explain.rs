//! `explain FABnnn`, `explain NCCL_IB_HCA`.

use super::{Exit, terminal};
use crate::nccl::{KNOWN_UP_TO, Status, Unread, Variable, find, unread};
use crate::report::layout::{self, bare};
use crate::rules::{self, RULES};
use crate::text::nearest;
use std::io::{self, Write};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Id of a rule, such as FAB301, or name of an environment variable, such as NCCL_IB_HCA
    id: String,
}

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    if let Some(variable) = find(&arguments.id) {
        return explain_variable(variable, out);
    }
    if let Some(what) = unread(&arguments.id) {
        return explain_unread(&arguments.id, what, err);
    }
    let Some(rule) = rules::find(&arguments.id) else {
        writeln!(
            err,
            "error: unknown rule {:?}{} To list all rules, run fabric-admission rules list.",
            arguments.id,
            hint(&arguments.id)
        )?;
        return Ok(Exit::Usage);
    };
    let page = rule.page();
    writeln!(out, "{} ({}): {}\n", rule.id, rule.severity, bare(&page.summary))?;
    for (title, text) in [("What it checks", page.what), ("Why it breaks", page.why), ("Fix", page.fix)] {
        let lines: Vec<String> = bare(&text).lines().map(wrapped).collect();
        writeln!(out, "{title}\n{}\n", lines.join("\n"))?;
    }
    if !rule.lesser.is_empty() {
        writeln!(out, "Less severe")?;
        for (severity, reason) in rule.lesser {
            writeln!(out, "{}", wrapped(&format!("{severity}: {reason}")))?;
        }
        writeln!(out)?;
    }
    // A rule that only the webhook can report has no example manifest.
    for (title, example) in
        [("Bad", rule.files.bad), ("Good", rule.files.good)].into_iter().filter(|(_, e)| !e.is_empty())
    {
        writeln!(out, "{title}")?;
        for line in example.lines() {
            writeln!(out, "  {line}")?;
        }
        writeln!(out)?;
    }
    writeln!(out, "Sources")?;
    for source in page.sources {
        writeln!(out, "  {}", bare(&source))?;
    }
    if !page.catalogue.is_empty() {
        writeln!(out, "\nCatalogue of known failures\n  {}", page.catalogue.join(", "))?;
    }
    writeln!(out, "\nIgnore\n  {}", bare(&rule.waiver.words(rule.id)))?;
    writeln!(out, "\nSince {}", rule.since)?;
    Ok(Exit::Clean)
}

/// The end of the sentence, with a similar id if there is one.
fn hint(id: &str) -> String {
    let id = id.to_uppercase();
    // A well-formed id is not misspelt: FAB999 does not mean FAB109.
    let well_formed =
        id.strip_prefix("FAB").is_some_and(|n| n.len() == 3 && n.bytes().all(|b| b.is_ascii_digit()));
    let by_number = rules::find(&format!("FAB{id}")).map(|rule| rule.id);
    let near = by_number.or_else(|| nearest(&id, RULES.iter().map(|r| r.id))).filter(|_| !well_formed);
    near.map_or_else(|| ".".to_owned(), |near| format!("; did you mean {near}?"))
}

/// A paragraph in lines that fit the terminal.
fn wrapped(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("  {}", layout::wrapped(text, 2, 2, terminal::width())) }
}

fn explain_variable(v: &Variable, out: &mut dyn Write) -> io::Result<Exit> {
    let read_by = if v.family == "none" { "no library" } else { v.family };
    writeln!(out, "{} (read by {read_by}; {}; about {})\n", v.name, v.kind, v.relevance)?;
    let since = v.since.map(|s| s.strip_prefix("..").map_or(s.to_owned(), |s| format!("{s} or earlier")));
    let bounds = match v.range {
        (Some(least), Some(most)) => Some(format!("{least} to {most}")),
        (Some(least), None) => Some(format!("{least} or more")),
        (None, most) => most.map(|most| format!("at most {most}")),
    };
    let status = match v.status {
        Status::Read | Status::Other => None,
        Status::Deprecated => Some("deprecated"),
        Status::Removed => Some("no longer read"),
        Status::Newer => {
            Some("documented, but only for an NCCL release that is newer than the latest known one")
        }
    };
    let ranks = v
        .uniform
        .map(|uniform| if uniform { "must have the same value" } else { "may have different values" });
    let text = |t: Option<&str>| t.map(str::to_owned);
    let listed = |t: &str| (!t.is_empty()).then(|| t.replace(',', ", "));
    for (title, value) in [
        ("Status", text(status)),
        ("Read as", text(v.reading.words())),
        ("Allowed words", listed(v.values)),
        ("Bounds", bounds),
        ("Default", text(v.default)),
        ("Ranks", text(ranks)),
        ("Since", since),
        ("Until", text(v.until)),
        ("Deprecated since", text(v.deprecated)),
        ("Instead", text(v.instead)),
        ("Misspelt as", listed(v.misnames)),
    ] {
        if let Some(value) = value {
            writeln!(out, "{title:<18}{value}")?;
        }
    }
    Ok(Exit::Clean)
}

fn explain_unread(name: &str, what: Unread, err: &mut dyn Write) -> io::Result<Exit> {
    let hint = match what {
        Unread::Misname(v) | Unread::Opposite(v) | Unread::Typo(v) | Unread::Removed(v) => {
            format!("; did you mean {}?", v.name)
        }
        Unread::Unknown => String::new(),
    };
    writeln!(err, "error: unknown variable {name:?} (known up to NCCL {KNOWN_UP_TO}){hint}")?;
    Ok(Exit::Usage)
}
