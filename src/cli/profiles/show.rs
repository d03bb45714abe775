//! `profiles show`: a profile with everything that it inherits, and the origin of each value.

use super::given_profile::GivenProfile;
use super::profiles_source::{LoadedSource, ProfileSourceFlags};
use super::used_by;
use crate::cli::Exit;
use crate::cli::lines_on_stderr::write_error;
use crate::manifest::{self, DocumentOrError, to_yaml};
use crate::profile::{FabricProfile, ProfileWithAllDefaults, ValueOrigin, write_out_all_defaults};
use crate::report::ci::text_without_runner_commands;
use crate::text::nearest_if_probably_meant;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Name of a FabricProfile from --profiles, --cluster or --live, or of a built-in base profile
    #[arg(value_name = "NAME")]
    name: String,
    /// Show the workloads and pods that use the profile, instead of the profile's values. Needs --live or --cluster
    #[arg(long)]
    used_by: bool,
    #[command(flatten)]
    source: ProfileSourceFlags,
}

/// Comments start at most this far to the right.
const WIDEST: usize = 56;

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    if arguments.used_by {
        if !arguments.source.live && arguments.source.cluster.is_empty() {
            write_error(
                err,
                format_args!("--used-by needs --live or --cluster PATH, which have the workloads and pods"),
            )?;
            return Ok(Exit::Usage);
        }
        return used_by::run(&arguments.name, &arguments.source, out, err);
    }
    let known = match arguments.source.read_profiles_and_facts(err)? {
        Ok(known) => known,
        Err(exit) => return Ok(exit),
    };
    // Of several objects of one name, the last one counts.
    let mut shown = None;
    let mut names = BTreeSet::new();
    let mut look = |given: GivenProfile<'_>| {
        let name = name(given.json());
        if name.as_deref() == Some(&*arguments.name) {
            shown = Some(page(given, &known));
        }
        names.extend(name);
    };
    known.visit_each_base(&mut look);
    known.visit_each_profile(&mut look);
    match shown {
        None => {
            let near = nearest_if_probably_meant(&arguments.name, names.iter().map(String::as_str));
            let hint = match near {
                Some(near) => format!("did you mean {near:?}?"),
                None => format!("known: {}", names.iter().cloned().collect::<Vec<_>>().join(", ")),
            };
            write_error(err, format_args!("profile {:?} does not exist; {hint}", arguments.name))?;
            Ok(Exit::Usage)
        }
        Some(Err(message)) => {
            write_error(err, format_args!("{message}"))?;
            Ok(Exit::Usage)
        }
        Some(Ok(text)) => {
            out.write_all(text.as_bytes())?;
            Ok(if known.unread.is_empty() { Exit::Clean } else { Exit::Usage })
        }
    }
}

fn name(json: &str) -> Option<String> {
    let value: Value = serde_json::from_str(json).ok()?;
    value.pointer("/metadata/name")?.as_str().map(str::to_owned)
}

/// The profile as YAML with comments.
fn page(given: GivenProfile<'_>, known: &LoadedSource) -> Result<String, String> {
    let at = |pointer: &str, message: &str| match given.file_line_and_column(pointer) {
        Some(place) => format!("{place}: {message}"),
        None => format!("{pointer}: {message}"),
    };
    let profile = FabricProfile::read(given.json()).map_err(|e| at(&e.pointer, &e.message))?;
    let raw: Value = serde_json::from_str(given.json()).map_err(|e| e.to_string())?;
    let ProfileWithAllDefaults { json, origins } =
        write_out_all_defaults(&profile, &raw, &known.bases).map_err(|e| at(&e.pointer, &e.message))?;
    let own = |pointer: &str| match given {
        GivenProfile::BuiltIn(name, _) => format!("base {name}"),
        GivenProfile::File(_) | GivenProfile::Live(_) => {
            given.file_and_line(pointer).unwrap_or_else(|| given.source())
        }
    };
    let mut comments: BTreeMap<String, String> = BTreeMap::new();
    comments.insert("/metadata/name".to_owned(), own("/metadata/name"));
    for (pointer, origin) in origins {
        let comment = match origin {
            ValueOrigin::Own(pointer) => own(&pointer),
            ValueOrigin::Base(name) => format!("base {name}"),
            ValueOrigin::Field(field) => format!("from {field}"),
            ValueOrigin::Default => "default".to_owned(),
        };
        comments.insert(pointer, comment);
    }
    Ok(commented(&to_yaml(&json), &comments))
}

/// The text with a comment behind each line that has a value. The text is read again, so that the lines are known.
fn commented(yaml: &str, comments: &BTreeMap<String, String>) -> String {
    let mut of_line: BTreeMap<usize, &str> = BTreeMap::new();
    if let Some(DocumentOrError::Document(document)) =
        manifest::read_documents_of_file("", yaml.as_bytes()).into_iter().next()
    {
        for (pointer, comment) in comments {
            let line =
                usize::try_from(document.position_at_or_above_pointer(pointer).line).unwrap_or_default();
            of_line.insert(line, comment);
        }
    }
    let has_comment =
        |(at, line): (usize, &str)| of_line.contains_key(&(at + 1)).then(|| line.chars().count());
    let column = yaml.lines().enumerate().filter_map(has_comment).filter(|n| *n <= WIDEST).max().unwrap_or(0);
    let mut text = String::new();
    for (at, line) in yaml.lines().enumerate() {
        match of_line.get(&(at + 1)) {
            Some(comment) => {
                text.push_str(&format!("{line:column$}  # {}\n", text_without_runner_commands(comment)));
            }
            None => text.push_str(&format!("{line}\n")),
        }
    }
    text
}
