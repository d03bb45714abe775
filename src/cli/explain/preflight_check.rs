//! `explain PF101`.

use super::rule::wrapped;
use crate::cli::Exit;
use crate::preflight::Check;
use crate::report::terminal_lines::without_backticks;
use crate::rules::Page;
use std::io::{self, Write};

pub(super) fn explain(check: &Check, out: &mut dyn Write) -> io::Result<Exit> {
    // A test parses every page.
    let page = Page::parse(check.page).unwrap_or_default();
    writeln!(out, "{} (check of preflight): {}\n", check.id, without_backticks(&page.summary))?;
    for (title, text) in [("What it reads", page.what), ("Why it matters", page.why), ("Fix", page.fix)] {
        let lines: Vec<String> = without_backticks(&text).lines().map(wrapped).collect();
        writeln!(out, "{title}\n{}\n", lines.join("\n"))?;
    }
    writeln!(out, "Sources")?;
    for source in page.sources {
        writeln!(out, "  {}", without_backticks(&source))?;
    }
    writeln!(
        out,
        "\nPolicy\n{}",
        wrapped(&format!(
            "a profile can set the check to fail, warn or off (spec.preflight.checks.{})",
            check.id
        ))
    )?;
    Ok(Exit::Clean)
}
