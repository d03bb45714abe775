//! `explain FABnnn`, `explain NCCL_IB_HCA`.

use super::Exit;
use crate::nccl::{KNOWN_UP_TO, Status, Unread, Variable, find, unread};
use crate::rules::{self, RULES};
use crate::text::nearest;
use std::io::{self, Write};

/// Characters of a line of text.
const WIDTH: usize = 100;

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

/// The text of a document without its backticks. A literal that is not one plain word gets quotes instead, so that its
/// ends stay visible.
fn bare(text: &str) -> String {
    let mut parts = text.split('`');
    let mut shown = parts.next().unwrap_or_default().to_owned();
    while let Some(literal) = parts.next() {
        let plain = literal.chars().any(char::is_alphanumeric) && !literal.contains(char::is_whitespace);
        let quote = if plain || literal.contains('"') { "" } else { "\"" };
        shown.push_str(quote);
        shown.push_str(literal);
        shown.push_str(quote);
        shown.push_str(parts.next().unwrap_or_default());
    }
    shown
}

/// A paragraph in lines that fit a terminal.
fn wrapped(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let mut lines = String::from(" ");
    let mut width = 1;
    for word in text.split(' ') {
        let length = word.chars().count();
        if width > 1 && width + 1 + length > WIDTH {
            lines.push_str("\n ");
            width = 1;
        }
        lines.push(' ');
        lines.push_str(word);
        width += 1 + length;
    }
    lines
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_of_documents_have_no_backticks_in_a_terminal() {
        for (text, shown) in [
            ("set `sizeLimit: 64Gi` in `spec`", "set \"sizeLimit: 64Gi\" in spec"),
            ("`^` (all but) and `=`", "\"^\" (all but) and \"=\""),
            ("`a: \"false\"`", "a: \"false\""),
            ("none", "none"),
        ] {
            assert_eq!(bare(text), shown);
        }
    }
}
