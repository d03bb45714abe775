//! `explain FAB301`.

use crate::cli::{Exit, terminal_width};
use crate::report::terminal_lines::{self, without_backticks};
use crate::rules::Rule;
use std::io::{self, Write};

/// A paragraph in lines that fit the terminal.
pub(super) fn wrapped(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!("  {}", terminal_lines::wrapped(text, 2, 2, terminal_width::width()))
    }
}

pub(super) fn explain(rule: &Rule, out: &mut dyn Write) -> io::Result<Exit> {
    let page = rule.page();
    writeln!(out, "{} ({}): {}\n", rule.id, rule.severity, without_backticks(&page.summary))?;
    for (title, text) in [("What it checks", page.what), ("Why it breaks", page.why), ("Fix", page.fix)] {
        let lines: Vec<String> = without_backticks(&text).lines().map(wrapped).collect();
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
        writeln!(out, "  {}", without_backticks(&source))?;
    }
    if !page.catalogue.is_empty() {
        writeln!(out, "\nCatalogue of known failures\n  {}", page.catalogue.join(", "))?;
    }
    writeln!(out, "\nIgnore\n  {}", without_backticks(&rule.waiver.how_to_ignore_in_words(rule.id)))?;
    writeln!(out, "\nSince {}", rule.since)?;
    Ok(Exit::Clean)
}
