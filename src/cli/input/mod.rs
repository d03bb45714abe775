//! Inputs of every offline command: manifests, profiles and facts about the cluster. YAML and JSON themselves are read
//! in `manifest`; what a command does with the objects is in its own file.

mod fact_kinds;
pub(super) mod files;
mod kept_text;
pub(super) mod live;
mod loaded;
pub(super) mod objects;
mod of_file;
mod parts;
pub(super) mod profile_faults;
pub(super) mod profiles;
mod reader;

use crate::facts::{DriverPattern, HarmlessDrivers, PodSecurity};
use crate::manifest::Document;
use crate::profile::{FabricProfile, Ignorable, Profile};
use crate::report::Unread;
use crate::report::ci::log_text;
use crate::rules::inputs::REPEATED_KEY;
use crate::snapshot::{Ambiguity, Builder, Layer, Settings, Snapshot};
use clap::ValueEnum;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use super::Exit;
pub(super) use loaded::{Batch, File, Loaded, Ready, place, source};
pub(super) use of_file::Problems;

#[derive(Debug, Clone, clap::Args)]
pub(super) struct Inputs {
    /// Manifest file, directory with manifests (*.yaml, *.yml, *.json), or - for standard input. To read a running
    /// pod, use pod/NAME and --live
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Name of a FabricProfile in --profiles, or of a built-in base profile. The profile applies to every pod with
    /// accelerators; the command ignores the profile annotations of the pods
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// File or directory with FabricProfiles; if one FabricProfile is invalid, the command fails
    #[arg(long, value_name = "PATH")]
    profiles: Option<PathBuf>,
    /// File or directory with Kubernetes objects that describe the cluster, such as Nodes and
    /// NetworkAttachmentDefinitions; repeatable
    #[arg(long, value_name = "PATH")]
    cluster: Vec<PathBuf>,
    /// Read objects such as Nodes and networks from the API server of a cluster, in addition to files
    #[arg(long)]
    live: bool,
    /// Context in the kubeconfig, for --live; default: the current context
    #[arg(long, value_name = "NAME", requires = "live")]
    context: Option<String>,
    /// Kubeconfig file, for --live; default: the first file in environment variable KUBECONFIG, else ~/.kube/config
    #[arg(long, value_name = "FILE", requires = "live")]
    kubeconfig: Option<PathBuf>,
    /// Namespace for objects whose manifest does not set metadata.namespace; default: "default"
    #[arg(long, short, value_name = "NS", value_parser = namespace)]
    namespace: Option<String>,
    /// Do not fail if standard input is empty or a directory has no manifests
    #[arg(long)]
    allow_empty: bool,
    #[command(flatten)]
    choice: Choice,
}

/// Values for flags that are not given.
#[derive(Debug, Clone, Default)]
pub(super) struct Defaults {
    pub(super) profile: Option<String>,
    pub(super) profiles: Option<PathBuf>,
    pub(super) cluster: Vec<PathBuf>,
    pub(super) namespace: Option<String>,
}

impl Inputs {
    /// The paths as they are given.
    pub(super) fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Some inputs, with profiles and facts from files.
    pub(super) fn of_files(paths: Vec<PathBuf>, files: &Files, choice: &Choice) -> Self {
        let Files { profiles, cluster, namespace } = files.clone();
        Self {
            paths,
            profile: None,
            profiles,
            cluster,
            live: false,
            context: None,
            kubeconfig: None,
            namespace,
            allow_empty: true,
            choice: choice.clone(),
        }
    }

    /// The same settings for some of the inputs, with values for the flags that are not given.
    pub(super) fn with(&self, paths: Vec<PathBuf>, defaults: Defaults) -> Self {
        let given = self.clone();
        Self {
            paths,
            profile: given.profile.or(defaults.profile),
            profiles: given.profiles.or(defaults.profiles),
            cluster: if given.cluster.is_empty() { defaults.cluster } else { given.cluster },
            namespace: given.namespace.or(defaults.namespace),
            ..given
        }
    }
}

/// Where an offline command without manifests of its own takes profiles and facts from.
#[derive(Debug, Clone, Default)]
pub(super) struct Files {
    pub(super) profiles: Option<PathBuf>,
    pub(super) cluster: Vec<PathBuf>,
    pub(super) namespace: Option<String>,
}

/// Settings of the cluster; the same for the offline review and for the webhook.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Choice {
    /// Policy for a pod to which several FabricProfiles could apply
    #[arg(long, value_enum, env = "FABRIC_ADMISSION_AMBIGUOUS", default_value_t = AmbiguityArgument::Deny)]
    ambiguous: AmbiguityArgument,
    /// FabricProfile for pods that match no FabricProfile, in namespaces without a default FabricProfile
    #[arg(long, value_name = "NAME", env = "FABRIC_ADMISSION_DEFAULT_PROFILE")]
    default_profile: Option<String>,
    /// Pod Security level that the API server enforces in namespaces without the label
    /// pod-security.kubernetes.io/enforce
    #[arg(long, value_enum, value_name = "LEVEL", env = "FABRIC_ADMISSION_POD_SECURITY_DEFAULT", default_value_t = Level::Privileged)]
    pod_security_default: Level,
    /// Let a pod use networks only from its own namespace, from namespace "default", and from the namespaces of the
    /// networks in its FabricProfile
    #[arg(long, env = "FABRIC_ADMISSION_NAMESPACE_ISOLATION")]
    namespace_isolation: bool,
    /// Findings that users can ignore with annotation fabric-admission.dev/ignore.FABnnn (FABnnn: id of a rule). If a
    /// pod has a FabricProfile, field `ignorable` of the FabricProfile applies instead of this flag
    #[arg(long, value_enum, value_name = "WHAT", env = "FABRIC_ADMISSION_IGNORABLE", default_value_t = IgnorableArgument::Warnings)]
    ignorable: IgnorableArgument,
    /// Name of a DRA driver or DeviceClass that never allocates NICs, in addition to the built-in names. If a pod has a
    /// claim for a driver or class that may allocate NICs, the webhook adds no networks to the pod. `*` matches any
    /// text; repeatable
    #[arg(long, value_name = "NAME", env = "FABRIC_ADMISSION_HARMLESS_DRIVERS", value_delimiter = ',', value_parser = driver)]
    harmless_drivers: Vec<DriverPattern>,
}

/// The namespaces in which the guides of the operators and device plugins install them: k8snetworkplumbingwg's
/// sriov-network-operator (on OpenShift with its prefix) and NVIDIA's and AMD's network operators; the manifests of
/// sriov-network-device-plugin and k8s-rdma-shared-dev-plugin have kube-system.
pub(super) const OPERATOR_NAMESPACES: [&str; 6] = [
    "sriov-network-operator",
    "openshift-sriov-network-operator",
    "nvidia-network-operator",
    "network-operator",
    "kube-amd-network",
    "kube-system",
];

fn driver(text: &str) -> Result<DriverPattern, String> {
    DriverPattern::parse(text)
        .ok_or_else(|| "expected a name of lower-case letters, digits, '-', '.' and '*'".to_owned())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum IgnorableArgument {
    /// Warnings and info findings
    Warnings,
    /// Errors, warnings and info findings
    Errors,
}

/// A level of Pod Security.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Level {
    /// No restriction
    Privileged,
    /// Pods must not add IPC_LOCK
    Baseline,
    /// Pods must run as non-root and must not add IPC_LOCK
    Restricted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AmbiguityArgument {
    /// Deny the pod; the message names the annotation to set
    Deny,
    /// Choose the profile with the highest priority; the pod may run only on that profile's nodes
    Pin,
    /// Admit the pod unchanged, with a warning
    Warn,
}

impl Choice {
    pub(super) fn settings(&self) -> Settings {
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

    /// Checks that the default profile exists.
    pub(super) fn check(&self, snapshot: &Snapshot) -> Result<(), String> {
        match &self.default_profile {
            Some(name) if snapshot.profile(name).is_none() => {
                let known = snapshot.profiles().map(|p| p.name.as_str());
                let hint = match crate::text::nearest(name, known) {
                    Some(near) => format!("; did you mean {near:?}?"),
                    None => String::new(),
                };
                Err(format!("--default-profile: FabricProfile {name:?} does not exist{hint}"))
            }
            _ => Ok(()),
        }
    }
}

/// Inputs and facts, ready for decisions. Facts that cannot be read have been reported; what else cannot be read is
/// reported with the batch that has it.
pub(super) struct Prepared {
    pub(super) loaded: Loaded,
    pub(super) snapshot: Snapshot,
    /// The profile of `--profile`.
    pub(super) profile: Option<Arc<Profile>>,
    /// Namespace of objects that name none.
    pub(super) namespace: String,
    pub(super) unread: Vec<Unread>,
}

pub(super) fn namespace(text: &str) -> Result<String, String> {
    if crate::multus::annotation::is_label(text) {
        Ok(text.to_owned())
    } else {
        Err("expected lower-case letters, digits and '-', at most 63 characters".to_owned())
    }
}

/// What is known before any input is read: profiles and facts of files.
pub(super) struct Given {
    bases: Vec<FabricProfile>,
    builder: Builder,
    problems: objects::Problems,
}

impl Given {
    /// The same knowledge for other inputs. Its problems have been reported.
    pub(super) fn again(&self) -> Self {
        let problems = objects::Problems::default();
        Self { bases: self.bases.clone(), builder: self.builder.clone(), problems }
    }
}

/// Reads everything. `Err` with the exit code where nothing can be decided; the reason has been reported.
/// `operator_namespaces`: those whose objects describe the cluster; all without.
pub(super) fn prepare(
    arguments: &Inputs,
    operator_namespaces: Option<BTreeSet<String>>,
    err: &mut dyn Write,
) -> io::Result<Result<Prepared, Exit>> {
    match given(arguments, operator_namespaces, err)? {
        Ok(given) => prepare_with(arguments, given, err),
        Err(exit) => Ok(Err(exit)),
    }
}

/// Reads the profiles and the facts of files.
pub(super) fn given(
    arguments: &Inputs,
    operator_namespaces: Option<BTreeSet<String>>,
    err: &mut dyn Write,
) -> io::Result<Result<Given, Exit>> {
    let bases = match profiles::bases() {
        Ok(bases) => bases,
        Err(error) => {
            writeln!(err, "error: a compiled-in profile cannot be read: {error}")?;
            return Ok(Err(Exit::Internal));
        }
    };
    let own = arguments.namespace.as_deref().unwrap_or("default");
    let mut builder = Builder::new(bases.clone());
    builder.set(Settings { operator_namespaces, ..arguments.choice.settings() });
    let mut problems = objects::Problems::default();
    if let Some(path) = &arguments.profiles {
        profiles::load(path, &bases, &mut builder, &mut problems.errors);
        // What the pods would get without these profiles says nothing about the site.
        if !problems.errors.is_empty() {
            report(&problems, err)?;
            return Ok(Err(Exit::Usage));
        }
    }
    for path in &arguments.cluster {
        let mut visit = |documents: &[Document]| {
            objects::facts(documents, Layer::Cluster, own, &mut builder, &mut problems);
        };
        let (_, cluster) = files::read(std::slice::from_ref(path), false, &mut visit);
        problems.errors.extend(cluster.unread);
    }
    Ok(Ok(Given { bases, builder, problems }))
}

/// Reads the inputs, and the cluster where it is live.
pub(super) fn prepare_with(
    arguments: &Inputs,
    given: Given,
    err: &mut dyn Write,
) -> io::Result<Result<Prepared, Exit>> {
    let Given { bases, mut builder, mut problems } = given;
    let own = arguments.namespace.as_deref().unwrap_or("default");
    let (mut paths, mut pods, mut running) =
        (Cow::Borrowed(arguments.paths.as_slice()), Vec::new(), Vec::new());
    let mut forbidden = Vec::new();
    if arguments.live {
        let named = |path: &PathBuf| Some(path.to_str()?.strip_prefix("pod/")?.to_owned());
        pods.extend(paths.iter().filter_map(named));
        paths.to_mut().retain(|path| named(path).is_none());
        let (kubeconfig, context) = (arguments.kubeconfig.as_deref(), arguments.context.as_deref());
        let named = live::Also::Pods(own, &pods);
        match live::look(kubeconfig, context, builder, named, err)? {
            Ok(seen) => (builder, running, forbidden) = (seen.builder, seen.objects, seen.unread),
            Err(exit) => return Ok(Err(exit)),
        }
    }
    let mut visit = |documents: &[Document]| {
        objects::facts(documents, Layer::Input, own, &mut builder, &mut problems);
    };
    let running = pods.iter().zip(running).map(|(name, text)| (format!("pod/{name}"), text.into_bytes()));
    let loaded = files::read_facts(&paths, running, arguments.allow_empty, &mut visit);
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
    report(&problems, err)?;
    // Warnings report these already.
    let unread = problems.errors.into_iter().map(|(u, _)| u).chain(forbidden).collect();
    let namespace = own.to_owned();
    Ok(Ok(Prepared { loaded, snapshot, profile, namespace, unread }))
}

/// Settings that count for a server.
pub(super) struct ServerSettings<'a> {
    /// Those that it has in common with a review.
    pub(super) choice: &'a Choice,
    /// Whether planned changes are only reported.
    pub(super) withhold_changes: bool,
    /// Namespaces of operators.
    pub(super) operator_namespaces: &'a [String],
}

impl ServerSettings<'_> {
    fn settings(&self) -> Settings {
        Settings {
            withhold_changes: self.withhold_changes,
            operator_namespaces: Some(self.operator_namespaces.iter().cloned().collect()),
            ..self.choice.settings()
        }
    }
}

/// Profiles and cluster facts in files, for `serve`. `None`, with the reasons on `err`, when a
/// profile or a file cannot be read: half a set is worse than none. Other unreadable objects are ignored
/// with a warning, as they would be in a live cluster.
pub(super) fn facts_from_files(
    profiles: Option<&std::path::Path>,
    cluster: &[PathBuf],
    settings: &ServerSettings<'_>,
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
    builder.set(settings.settings());
    let mut problems = objects::Problems::default();
    if let Some(path) = profiles {
        profiles::load(path, &bases, &mut builder, &mut problems.errors);
    }
    for path in cluster {
        let mut visit = |documents: &[Document]| {
            objects::facts(documents, Layer::Cluster, "default", &mut builder, &mut problems);
        };
        let (_, cluster) = files::read(std::slice::from_ref(path), false, &mut visit);
        problems.errors.extend(cluster.unread);
    }
    report(&problems, err)?;
    let snapshot = builder.build();
    for (kind, ignored) in snapshot.ignored() {
        let objects = crate::text::count(ignored, "object");
        writeln!(
            err,
            "warning: {kind}: {objects} ignored, because they are outside the namespaces of --operator-namespaces"
        )?;
    }
    // In a live cluster the default profile may be created later.
    if !live && let Err(message) = settings.choice.check(&snapshot) {
        writeln!(err, "error: {message}")?;
        return Ok(None);
    }
    Ok(problems.errors.is_empty().then_some((builder, snapshot)))
}

/// Reports facts that cannot be read.
pub(super) fn report(problems: &objects::Problems, err: &mut dyn Write) -> io::Result<()> {
    for fact in &problems.warnings {
        writeln!(
            err,
            "warning: {}:{}:{}: {}; the object is ignored",
            fact.file, fact.line, fact.column, fact.message
        )?;
    }
    report_unread(&problems.errors, err)
}

/// Reports what cannot be read at all, with the lines of the file.
pub(super) fn report_unread(unread: &[(Unread, Option<String>)], err: &mut dyn Write) -> io::Result<()> {
    for (problem, snippet) in unread {
        let (file, message) = (log_text(&problem.file), log_text(&problem.message));
        writeln!(err, "error: {file}:{}:{}: {message}", problem.line, problem.column)?;
        if let Some(snippet) = snippet {
            writeln!(err, "{snippet}")?;
        }
    }
    Ok(())
}

/// Reports keys that are given twice, for formats without findings.
pub(super) fn warn_of_duplicates(document: &Document, err: &mut dyn Write) -> io::Result<()> {
    for d in &document.warnings {
        writeln!(
            err,
            "warning: {}:{}:{}: {} duplicate key {:?} (first on line {}); the last value is used",
            log_text(&document.file),
            d.second.line,
            d.second.column,
            REPEATED_KEY.id,
            d.key,
            d.first.line
        )?;
    }
    Ok(())
}
