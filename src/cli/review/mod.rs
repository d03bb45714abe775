//! `review`: what would be changed and refused, from files alone.

mod decide;
mod inputs;
mod objects;
mod output;
mod profiles;

use super::Exit;
use crate::fabric::Profile;
use crate::manifest::Document;
use crate::report::{Place, Skipped, Source, Unread};
use crate::rules::Severity;
use crate::snapshot::{Builder, Layer, Mode};
use clap::ValueEnum;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Files, directories (searched for *.yaml, *.yml and *.json) or - for standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Use this profile for every pod in scope: a compiled-in base or one from --profiles; beats annotations
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// FabricProfiles of the site: a file or directory; all of them load or none
    #[arg(long, value_name = "PATH")]
    profiles: Option<PathBuf>,
    /// Facts about the cluster: files or directories of Kubernetes objects
    #[arg(long, value_name = "PATH")]
    cluster: Vec<PathBuf>,
    /// Namespace of objects that name none
    #[arg(long, short, value_name = "NS", default_value = "default", value_parser = namespace)]
    namespace: String,
    /// Review under this mode instead of the namespace's
    #[arg(long, value_enum)]
    mode: Option<ModeArgument>,
    /// Version of the cluster (1.33 or newer)
    #[arg(long, value_name = "VERSION", value_parser = kube_version)]
    kube_version: Option<(u32, u32)>,
    /// Output format
    #[arg(long, short, value_enum, default_value_t = Format::Text)]
    output: Format,
    /// Exit with 1 when a finding is at least this severe
    #[arg(long, value_enum, default_value_t = FailOn::Error)]
    fail_on: FailOn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ModeArgument {
    /// Errors deny
    Enforce,
    /// Errors are told, never denied
    Audit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// For programs: fabric-admission.dev/review/v1
    Json,
    /// Every input document, changed or not
    Yaml,
    /// One JSON line for each changed object
    Patch,
    /// What would change, as a unified diff
    Diff,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailOn {
    Error,
    Warning,
    Info,
    Never,
}

/// Everything that was read, in order.
struct Loaded {
    files: Vec<inputs::File>,
    unread: Vec<(Unread, Option<String>)>,
    skipped: Vec<Skipped>,
}

/// What every decision shares.
struct Setting {
    namespace: String,
    mode: Option<Mode>,
    profile: Option<Arc<Profile>>,
}

fn namespace(text: &str) -> Result<String, String> {
    if crate::multus::annotation::is_label(text) {
        Ok(text.to_owned())
    } else {
        Err("lower-case letters, digits and '-' are expected, at most 63".to_owned())
    }
}

fn kube_version(text: &str) -> Result<(u32, u32), String> {
    let mut parts = text.trim_start_matches('v').split(['.', '+', '-']);
    let mut number = || parts.next().and_then(|p| p.parse::<u32>().ok());
    match (number(), number()) {
        (Some(major), Some(minor)) if (major, minor) >= (1, 33) => Ok((major, minor)),
        (Some(_), Some(_)) => Err("Kubernetes 1.33 and newer are supported".to_owned()),
        _ => Err("expected a version such as 1.36".to_owned()),
    }
}

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<Exit> {
    let bases = match profiles::bases() {
        Ok(bases) => bases,
        Err(error) => {
            writeln!(err, "error: a compiled-in profile cannot be read: {error}")?;
            return Ok(Exit::Internal);
        }
    };
    let mut builder = Builder::new(bases.clone());
    let mut problems = objects::Problems::default();
    if let Some(path) = &arguments.profiles {
        profiles::load(path, &bases, &mut builder, &mut problems.errors);
    }
    for path in &arguments.cluster {
        let cluster = inputs::read(std::slice::from_ref(path));
        objects::facts(&cluster, Layer::Cluster, &arguments.namespace, &mut builder, &mut problems);
        problems.errors.extend(cluster.unread);
    }
    let mut loaded = inputs::read(&arguments.paths);
    objects::facts(&loaded, Layer::Input, &arguments.namespace, &mut builder, &mut problems);
    problems.errors.append(&mut loaded.unread);
    let snapshot = builder.build();
    let profile = match &arguments.profile {
        None => None,
        Some(name) => match profiles::by_name(name, &snapshot, &bases) {
            Ok(profile) => Some(profile),
            Err(message) => {
                writeln!(err, "error: --profile: {message}")?;
                return Ok(Exit::Usage);
            }
        },
    };
    let setting = Setting {
        namespace: arguments.namespace.clone(),
        mode: arguments.mode.map(|m| match m {
            ModeArgument::Enforce => Mode::Enforce,
            ModeArgument::Audit => Mode::Audit,
        }),
        profile,
    };
    warn_of_duplicates(&loaded, err)?;
    tell(&problems, err)?;
    let unread = problems.errors.into_iter().map(|(u, _)| u).collect();
    let sum = output::write(arguments.output, &loaded, unread, &snapshot, &setting, out, err)?;
    Ok(exit(arguments.fail_on, &sum))
}

/// The snapshot of profiles and cluster facts in files, for `serve`. `None`, with the reasons on `err`, when a
/// profile or a file cannot be read: half a set is worse than none. Other objects that cannot be read are left out
/// with a warning, as they would be if a cluster had them.
pub(super) fn facts_from_files(
    profiles: Option<&std::path::Path>,
    cluster: &[PathBuf],
    err: &mut dyn Write,
) -> io::Result<Option<crate::snapshot::Snapshot>> {
    let bases = match profiles::bases() {
        Ok(bases) => bases,
        Err(error) => {
            writeln!(err, "error: a compiled-in profile cannot be read: {error}")?;
            return Ok(None);
        }
    };
    let mut builder = Builder::new(bases.clone());
    let mut problems = objects::Problems::default();
    if let Some(path) = profiles {
        profiles::load(path, &bases, &mut builder, &mut problems.errors);
    }
    for path in cluster {
        let cluster = inputs::read(std::slice::from_ref(path));
        objects::facts(&cluster, Layer::Cluster, "default", &mut builder, &mut problems);
        problems.errors.extend(cluster.unread);
    }
    tell(&problems, err)?;
    Ok(problems.errors.is_empty().then(|| builder.build()))
}

fn tell(problems: &objects::Problems, err: &mut dyn Write) -> io::Result<()> {
    for fact in &problems.warnings {
        writeln!(
            err,
            "warning: {}:{}:{}: {}; it is left out",
            fact.file, fact.line, fact.column, fact.message
        )?;
    }
    for (problem, snippet) in &problems.errors {
        writeln!(err, "error: {}:{}:{}: {}", problem.file, problem.line, problem.column, problem.message)?;
        if let Some(snippet) = snippet {
            writeln!(err, "{snippet}")?;
        }
    }
    Ok(())
}

fn warn_of_duplicates(loaded: &Loaded, err: &mut dyn Write) -> io::Result<()> {
    for document in loaded.files.iter().flat_map(|f| &f.documents) {
        for d in &document.warnings {
            writeln!(
                err,
                "warning: {}:{}:{}: key {:?} is given twice, first on line {}; the last one counts",
                document.file, d.second.line, d.second.column, d.key, d.first.line
            )?;
        }
    }
    Ok(())
}

fn exit(fail_on: FailOn, sum: &output::Sum) -> Exit {
    if sum.summary.errors > 0 {
        return Exit::Usage;
    }
    let least = match fail_on {
        FailOn::Error => Severity::Error,
        FailOn::Warning => Severity::Warning,
        FailOn::Info => Severity::Info,
        FailOn::Never => return Exit::Clean,
    };
    if sum.worst.is_some_and(|worst| worst >= least) { Exit::Findings } else { Exit::Clean }
}

/// Where an object of a document stands.
fn source(document: &Document, pointer: &str) -> Source {
    let line = if pointer.is_empty() { document.line } else { document.locate(pointer).line };
    Source { file: document.file.to_string(), document: document.index, line, pointer: pointer.to_owned() }
}

fn place(document: &Document, pointer: &str) -> Place {
    let position = document.locate(pointer);
    Place { line: position.line, column: position.column }
}
