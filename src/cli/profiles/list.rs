//! `profiles list`.

use super::given_profile::GivenProfile;
use super::profiles_source::{LoadedSource, ProfileSourceFlags};
use crate::cli::{Exit, terminal_width};
use crate::profile::FabricProfileStatus;
use crate::report::json_without_runner_commands::write_json;
use crate::report::profile_list::{ProfileEntry, ProfileListReport};
use crate::resolve::profile_status::Statuses;
use clap::ValueEnum;
use std::io::{self, Write};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    source: ProfileSourceFlags,
    /// Output format
    #[arg(long, short, value_enum, default_value_t = Format::Text)]
    output: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text for a terminal
    Text,
    /// One JSON document, schema fabric-admission.dev/profiles/v1
    Json,
}

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let known = match arguments.source.read_profiles_and_facts(err)? {
        Ok(known) => known,
        Err(exit) => return Ok(exit),
    };
    let mut entries = Vec::new();
    if arguments.source.is_given() {
        let statuses = Statuses::index_namespaces_for_statuses(&known.snapshot);
        known.visit_each_profile(&mut |given| entries.push(entry(given, &statuses, &known)));
    } else {
        known.visit_each_base(&mut |given| entries.push(base(given)));
    }
    let unreadable = !known.unread.is_empty();
    let report = ProfileListReport::new(entries, known.unread);
    match arguments.output {
        Format::Text => report.write_table(out, terminal_width::width())?,
        Format::Json => {
            write_json(&mut *out, &report)?;
            writeln!(out)?;
        }
    }
    Ok(if unreadable { Exit::Usage } else { Exit::Clean })
}

fn entry(given: GivenProfile<'_>, statuses: &Statuses<'_>, known: &LoadedSource) -> ProfileEntry {
    let (mut status, _) = statuses.of_object(given.json());
    // Without any Namespace object, zero would be a guess.
    if !known.snapshot.knows_namespaces() {
        status.matching_namespaces = None;
    }
    let (name, base) = names(given.json());
    let id = (name.as_deref(), base.as_deref(), given.source());
    ProfileEntry::new(id, status, &|pointer| given.file_line_and_column(pointer))
}

/// A base selects no nodes, and no namespace is its own.
fn base(given: GivenProfile<'_>) -> ProfileEntry {
    let word = |pointer: &str| text(given.json(), pointer);
    let status = FabricProfileStatus {
        transport: word("/spec/transport"),
        attachment: word("/spec/attachment"),
        priority: Some(0),
        ..FabricProfileStatus::default()
    };
    ProfileEntry::new((word("/metadata/name").as_deref(), None, given.source()), status, &|_| None)
}

/// The names of a profile and of its base, also if the profile cannot be used.
fn names(json: &str) -> (Option<String>, Option<String>) {
    (text(json, "/metadata/name"), text(json, "/spec/base"))
}

fn text(json: &str, pointer: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(json).ok()?;
    value.pointer(pointer)?.as_str().map(str::to_owned)
}
