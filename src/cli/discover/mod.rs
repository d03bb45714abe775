//! `discover`: reads a cluster or files of one, and writes what `crate::discover` makes of its objects.

mod files;
mod live;
mod read_objects_and_failures;

use super::Exit;
use super::input::{documents_to_objects, read_and_find_profiles};
use crate::cli::lines_on_stderr::{write_error, write_note, write_warning};
use crate::cli::pretty_json::write_pretty_json;
use crate::discover::{Discovered, discover, drift, printed_result};
use crate::profile::FabricProfile;
use crate::text::count_with_noun;
use clap::ValueEnum;
use std::io::{self, Write};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("cluster-source").required(true))]
pub(super) struct Arguments {
    /// Read a cluster through its API server
    #[arg(long, group = "cluster-source")]
    live: bool,
    /// File or directory with the objects of a cluster, such as the output of kubectl get -A -o yaml; repeatable
    #[arg(long, value_name = "PATH", group = "cluster-source")]
    cluster: Vec<PathBuf>,
    /// Context in the kubeconfig, for --live; default: the current context
    #[arg(long, value_name = "NAME", requires = "live", conflicts_with = "cluster")]
    context: Option<String>,
    /// Kubeconfig file, for --live; default: the first file in environment variable KUBECONFIG, else ~/.kube/config
    #[arg(long, value_name = "FILE", requires = "live", conflicts_with = "cluster")]
    kubeconfig: Option<PathBuf>,
    /// Output format
    #[arg(long, short, value_enum, default_value_t = Format::Yaml)]
    output: Format,
    /// Compare with the existing FabricProfiles instead of writing profiles
    #[arg(long)]
    diff: bool,
    /// File or directory with the FabricProfiles to compare; default: the FabricProfiles of the cluster
    #[arg(long, value_name = "PATH", requires = "diff")]
    profiles: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// FabricProfiles with comments; with --diff, one difference per line
    Yaml,
    /// One JSON document, schema fabric-admission.dev/discover/v1; with --diff, schema
    /// fabric-admission.dev/discover-diff/v1
    Json,
}

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let built_in_profiles = match read_and_find_profiles::built_in_profiles() {
        Ok(built_in_profiles) => built_in_profiles,
        Err(error) => {
            write_error(err, format_args!("a compiled-in profile cannot be read: {error}"))?;
            return Ok(Exit::Internal);
        }
    };
    let existing = match &arguments.profiles {
        None => None,
        Some(path) => {
            let mut problems = documents_to_objects::FactProblems::default();
            let read = read_and_find_profiles::read_profiles_and_faults(
                path,
                &built_in_profiles,
                &mut problems.errors,
            );
            if !problems.errors.is_empty() {
                super::input::write_fact_warnings_and_input_errors(&problems, err)?;
                return Ok(Exit::Usage);
            }
            Some(read)
        }
    };
    let read = if arguments.live {
        live::read_objects_of_live_cluster(
            arguments.kubeconfig.as_deref(),
            arguments.context.as_deref(),
            err,
        )?
    } else {
        Ok(files::read_objects_of_files(&arguments.cluster, err)?)
    };
    let read = match read {
        Ok(read) => read,
        Err(exit) => return Ok(exit),
    };
    let found = match discover(read.sources, &built_in_profiles) {
        Ok(found) => found,
        Err(error) => {
            write_error(err, format_args!("{error}"))?;
            return Ok(Exit::Usage);
        }
    };
    for (kind, why) in &found.unread {
        write_warning(err, format_args!("{kind} could not be read: {why}"))?;
    }
    let differs = if arguments.diff {
        let existing = existing.unwrap_or_else(|| found.profiles.clone());
        match write_drift_and_whether_any(arguments.output, &found, &existing, &built_in_profiles, out, err)?
        {
            Ok(differs) => differs,
            Err(exit) => return Ok(exit),
        }
    } else {
        write_discovered(arguments.output, &found, out, err)?;
        found.drafts.is_empty() || !found.unknown.is_empty()
    };
    Ok(if read.failed { Exit::Internal } else { Exit::of_unreadable_or_failed(read.unreadable, differs) })
}

fn write_discovered(
    format: Format,
    found: &Discovered,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Yaml => out.write_all(printed_result::yaml(found).as_bytes())?,
        Format::Json => {
            write_pretty_json(out, &printed_result::Report::new(found))?;
        }
    }
    for unknown in &found.unknown {
        let text = format!("no profile for {}: {}. {}", unknown.subject(), unknown.reason, unknown.question);
        write_warning(err, format_args!("{text}"))?;
    }
    if found.drafts.is_empty() && found.unknown.is_empty() {
        let why = printed_result::why_nothing_was_found(found);
        write_warning(err, format_args!("no profile: {why}"))?;
    }
    let questions: usize = found.drafts.iter().map(|draft| draft.questions.len()).sum();
    if questions > 0 {
        let profiles = count_with_noun(found.drafts.len(), "profile");
        writeln!(
            err,
            "{profiles} with {}; see the comments of the output",
            count_with_noun(questions, "open question")
        )?;
    }
    Ok(())
}

/// Whether anything differs, or nothing could be compared.
fn write_drift_and_whether_any(
    format: Format,
    found: &Discovered,
    existing: &[FabricProfile],
    bases: &[FabricProfile],
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Result<bool, Exit>> {
    let comparison = match drift(found, existing, bases) {
        Ok(comparison) => comparison,
        Err(error) => {
            write_error(err, format_args!("{error}"))?;
            return Ok(Err(Exit::Usage));
        }
    };
    match format {
        Format::Yaml => out.write_all(printed_result::drift_text(&comparison.drifts).as_bytes())?,
        Format::Json => {
            write_pretty_json(out, &printed_result::DiffReport::new(&comparison))?;
        }
    }
    for not in &comparison.not_compared {
        let text = format!("FabricProfile {} is not compared: {}", not.profile, not.reason);
        write_note(err, format_args!("{text}"))?;
    }
    let compared = count_with_noun(comparison.compared, "profile");
    let differences = comparison.drifts.len();
    match (comparison.compared, differences) {
        (0, 0) => write_warning(err, format_args!("no profile was compared"))?,
        (_, 0) => writeln!(err, "no drift: {compared} compared")?,
        _ => writeln!(err, "{}; {compared} compared", count_with_noun(differences, "difference"))?,
    }
    Ok(Ok(differences > 0 || comparison.compared == 0))
}
