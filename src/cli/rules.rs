//! `rules list`.

use super::Exit;
use crate::rules::RULES;
use clap::{Subcommand, ValueEnum};
use serde_json::json;
use std::io::{self, Write};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List every rule
    List {
        /// Output format
        #[arg(short, long, value_enum, default_value_t = Format::Text)]
        output: Format,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
    /// The page docs/rules.md
    Markdown,
}

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write) -> io::Result<Exit> {
    let Command::List { output } = arguments.command;
    match output {
        Format::Text => {
            for meta in RULES.iter().map(|r| r.meta()) {
                writeln!(out, "{}  {:<8} {}", meta.id, meta.severity.to_string(), meta.summary)?;
            }
        }
        Format::Json => {
            let list: Vec<_> = RULES
                .iter()
                .map(|r| r.meta())
                .map(|m| json!({"id": m.id, "severity": m.severity, "group": m.group(), "summary": m.summary, "since": m.since, "catalogue": m.also}))
                .collect();
            serde_json::to_writer_pretty(&mut *out, &list)?;
            writeln!(out)?;
        }
        Format::Markdown => write!(out, "{}", crate::report::rules_page::page())?,
    }
    Ok(Exit::Clean)
}
