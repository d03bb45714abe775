//! What every offline command reads: manifests, profiles and facts about the cluster.

pub(super) mod files;
mod live;
mod loaded;
pub(super) mod objects;
mod profiles;

use crate::facts::{DriverPattern, HarmlessDrivers, PodSecurity};
use crate::profile::{Ignorable, Profile};
use crate::report::Unread;
use crate::snapshot::{Ambiguity, Builder, Layer, Settings, Snapshot};
use clap::ValueEnum;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use super::Exit;
pub(super) use loaded::{File, Loaded, place, source};

#[derive(Debug, clap::Args)]
pub(super) struct Inputs {
    /// Files, directories (searched for *.yaml, *.yml and *.json), - for standard input; pod/NAME with --live
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
    /// Facts from a cluster as it is now, beside those of files
    #[arg(long)]
    live: bool,
    /// Context of the kubeconfig, with --live
    #[arg(long, value_name = "NAME", requires = "live")]
    context: Option<String>,
    /// Kubeconfig file, with --live; KUBECONFIG or ~/.kube/config where it is not given
    #[arg(long, value_name = "FILE", requires = "live")]
    kubeconfig: Option<PathBuf>,
    /// Namespace of objects that name none
    #[arg(long, short, value_name = "NS", default_value = "default", value_parser = namespace)]
    namespace: String,
    #[command(flatten)]
    choice: Choice,
}

/// What the cluster settles for itself; the same for files and for the webhook.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Choice {
    /// What becomes of a pod that several profiles fit
    #[arg(long, value_enum, env = "FABRIC_ADMISSION_AMBIGUOUS", default_value_t = AmbiguityArgument::Deny)]
    ambiguous: AmbiguityArgument,
    /// Profile of pods that nothing else speaks for, where their namespace names none
    #[arg(long, value_name = "NAME", env = "FABRIC_ADMISSION_DEFAULT_PROFILE")]
    default_profile: Option<String>,
    /// What Pod Security enforces in namespaces without its label, as the API server is configured
    #[arg(long, value_enum, value_name = "LEVEL", env = "FABRIC_ADMISSION_POD_SECURITY_DEFAULT", default_value_t = Level::Privileged)]
    pod_security_default: Level,
    /// Refuse networks of namespaces other than the pod's own, default and those of its profile's rails
    #[arg(long, env = "FABRIC_ADMISSION_NAMESPACE_ISOLATION")]
    namespace_isolation: bool,
    /// What annotation fabric-admission.dev/ignore.FABnnn may set aside where no profile says so
    #[arg(long, value_enum, value_name = "WHAT", env = "FABRIC_ADMISSION_IGNORABLE", default_value_t = IgnorableArgument::Warnings)]
    ignorable: IgnorableArgument,
    /// DRA drivers or DeviceClasses that hand out no NICs, beside the known ones; `*` stands for any text
    #[arg(long, value_name = "NAME", env = "FABRIC_ADMISSION_HARMLESS_DRIVERS", value_delimiter = ',', value_parser = driver)]
    harmless_drivers: Vec<DriverPattern>,
}

fn driver(text: &str) -> Result<DriverPattern, String> {
    DriverPattern::parse(text)
        .ok_or_else(|| "expected a name of lower-case letters, digits, '-', '.' and '*'".to_owned())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum IgnorableArgument {
    /// Warnings and information
    Warnings,
    /// Errors as well
    Errors,
}

/// A level of Pod Security.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Level {
    /// Everything is let through
    Privileged,
    /// No added IPC_LOCK
    Baseline,
    /// Non-root, and no added IPC_LOCK
    Restricted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AmbiguityArgument {
    /// Refuse it and say what to write
    Deny,
    /// Take the highest priority and keep the pod to its nodes
    Pin,
    /// Leave it as it is and warn
    Warn,
}

impl Choice {
    fn settings(&self) -> Settings {
        let ambiguity = match self.ambiguous {
            AmbiguityArgument::Deny => Ambiguity::Deny,
            AmbiguityArgument::Pin => Ambiguity::Pin,
            AmbiguityArgument::Warn => Ambiguity::Warn,
        };
        let pod_security_default = match self.pod_security_default {
            Level::Privileged => PodSecurity::Privileged,
            Level::Baseline => PodSecurity::Baseline,
            Level::Restricted => PodSecurity::Restricted,
        };
        let ignorable = match self.ignorable {
            IgnorableArgument::Warnings => Ignorable::Warnings,
            IgnorableArgument::Errors => Ignorable::Errors,
        };
        let default_profile = self.default_profile.clone();
        let namespace_isolation = self.namespace_isolation;
        Settings {
            ambiguity,
            default_profile,
            pod_security_default,
            namespace_isolation,
            harmless_drivers: HarmlessDrivers::new(self.harmless_drivers.clone()),
            ignorable,
            ..Settings::default()
        }
    }

    /// Whether the default is a profile that exists.
    fn check(&self, snapshot: &Snapshot) -> Result<(), String> {
        match &self.default_profile {
            Some(name) if snapshot.profile(name).is_none() => {
                let known = snapshot.profiles().map(|p| p.name.as_str());
                let hint = match crate::text::nearest(name, known) {
                    Some(near) => format!("; did you mean {near:?}?"),
                    None => String::new(),
                };
                Err(format!("--default-profile: there is no FabricProfile {name:?}{hint}"))
            }
            _ => Ok(()),
        }
    }
}

/// Inputs and facts, ready to be decided on. What could not be read has been told.
pub(super) struct Prepared {
    pub(super) loaded: Loaded,
    pub(super) snapshot: Snapshot,
    /// The profile of `--profile`.
    pub(super) profile: Option<Arc<Profile>>,
    /// Namespace of objects that name none.
    pub(super) namespace: String,
    pub(super) unread: Vec<Unread>,
}

fn namespace(text: &str) -> Result<String, String> {
    if crate::multus::annotation::is_label(text) {
        Ok(text.to_owned())
    } else {
        Err("lower-case letters, digits and '-' are expected, at most 63".to_owned())
    }
}

/// Reads everything. `Err` with the exit code where nothing can be decided; the reason has been told.
pub(super) fn prepare(arguments: &Inputs, err: &mut dyn Write) -> io::Result<Result<Prepared, Exit>> {
    let bases = match profiles::bases() {
        Ok(bases) => bases,
        Err(error) => {
            writeln!(err, "error: a compiled-in profile cannot be read: {error}")?;
            return Ok(Err(Exit::Internal));
        }
    };
    let mut builder = Builder::new(bases.clone());
    builder.set(arguments.choice.settings());
    let mut problems = objects::Problems::default();
    if let Some(path) = &arguments.profiles {
        profiles::load(path, &bases, &mut builder, &mut problems.errors);
    }
    for path in &arguments.cluster {
        let cluster = files::read(std::slice::from_ref(path));
        objects::facts(&cluster, Layer::Cluster, &arguments.namespace, &mut builder, &mut problems);
        problems.errors.extend(cluster.unread);
    }
    let (mut paths, mut pods, mut running) = (Vec::new(), Vec::new(), Vec::new());
    for path in &arguments.paths {
        match path.to_str().and_then(|p| p.strip_prefix("pod/")).filter(|_| arguments.live) {
            Some(name) => pods.push(name.to_owned()),
            None => paths.push(path.clone()),
        }
    }
    if arguments.live {
        let (kubeconfig, context) = (arguments.kubeconfig.as_deref(), arguments.context.as_deref());
        let named = (arguments.namespace.as_str(), pods.as_slice());
        match live::look(kubeconfig, context, builder, named, err)? {
            Some(seen) => (builder, running) = seen,
            None => return Ok(Err(Exit::Internal)),
        }
    }
    let mut loaded = files::read(&paths);
    for (name, text) in pods.iter().zip(running) {
        files::add(&mut loaded, &format!("pod/{name}"), text.into_bytes());
    }
    objects::facts(&loaded, Layer::Input, &arguments.namespace, &mut builder, &mut problems);
    problems.errors.append(&mut loaded.unread);
    let snapshot = builder.build();
    if let Err(message) = arguments.choice.check(&snapshot) {
        writeln!(err, "error: {message}")?;
        return Ok(Err(Exit::Usage));
    }
    let profile = match &arguments.profile {
        None => None,
        Some(name) => match profiles::by_name(name, &snapshot, &bases) {
            Ok(profile) => Some(profile),
            Err(message) => {
                writeln!(err, "error: --profile: {message}")?;
                return Ok(Err(Exit::Usage));
            }
        },
    };
    warn_of_duplicates(&loaded, err)?;
    tell(&problems, err)?;
    let unread = problems.errors.into_iter().map(|(u, _)| u).collect();
    let namespace = arguments.namespace.clone();
    Ok(Ok(Prepared { loaded, snapshot, profile, namespace, unread }))
}

/// Profiles and cluster facts in files, for `serve`. `None`, with the reasons on `err`, when a
/// profile or a file cannot be read: half a set is worse than none. Other objects that cannot be read are left out
/// with a warning, as they would be if a cluster had them.
pub(super) fn facts_from_files(
    profiles: Option<&std::path::Path>,
    cluster: &[PathBuf],
    choice: &Choice,
    live: bool,
    err: &mut dyn Write,
) -> io::Result<Option<(Builder, Snapshot)>> {
    let bases = match profiles::bases() {
        Ok(bases) => bases,
        Err(error) => {
            writeln!(err, "error: a compiled-in profile cannot be read: {error}")?;
            return Ok(None);
        }
    };
    let mut builder = Builder::new(bases.clone());
    builder.set(choice.settings());
    let mut problems = objects::Problems::default();
    if let Some(path) = profiles {
        profiles::load(path, &bases, &mut builder, &mut problems.errors);
    }
    for path in cluster {
        let cluster = files::read(std::slice::from_ref(path));
        objects::facts(&cluster, Layer::Cluster, "default", &mut builder, &mut problems);
        problems.errors.extend(cluster.unread);
    }
    tell(&problems, err)?;
    let snapshot = builder.build();
    // Of a cluster that is watched the default may come later.
    if !live && let Err(message) = choice.check(&snapshot) {
        writeln!(err, "error: {message}")?;
        return Ok(None);
    }
    Ok(problems.errors.is_empty().then_some((builder, snapshot)))
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
