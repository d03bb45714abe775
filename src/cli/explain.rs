//! `explain FABnnn`.

use super::Exit;
use crate::rules::{self, RULES};
use crate::text::nearest;
use std::io::{self, Write};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Id of the rule, such as FAB301
    id: String,
}

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let Some(rule) = rules::find(&arguments.id) else {
        let near = nearest(&arguments.id.to_uppercase(), RULES.iter().map(|r| r.meta().id));
        let hint = near.map(|n| format!("; did you mean {n}?")).unwrap_or_default();
        writeln!(err, "error: no rule {:?}{hint} See `fabric-admission rules list`.", arguments.id)?;
        return Ok(Exit::Usage);
    };
    let meta = rule.meta();
    writeln!(out, "{} ({}): {}\n", meta.id, meta.severity, meta.summary)?;
    for (title, text) in [("What it looks at", meta.what), ("Why it breaks", meta.why), ("Fix", meta.fix)] {
        writeln!(out, "{title}\n  {text}\n")?;
    }
    // A rule of the webhook alone has no manifest that shows it.
    for (title, example) in
        [("Bad", meta.bad), ("Good", meta.good)].into_iter().filter(|(_, e)| !e.is_empty())
    {
        writeln!(out, "{title}")?;
        for line in example.lines() {
            writeln!(out, "  {line}")?;
        }
        writeln!(out)?;
    }
    writeln!(out, "Sources")?;
    for source in meta.sources {
        writeln!(out, "  {source}")?;
    }
    if !meta.also.is_empty() {
        writeln!(out, "\nCatalogue of field failures\n  {}", meta.also.join(", "))?;
    }
    writeln!(out, "\nSet aside\n  {}", meta.waiver.words(meta.id))?;
    writeln!(out, "\nSince {}", meta.since)?;
    Ok(Exit::Clean)
}
