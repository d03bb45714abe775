//! Everything that decisions need, in the order in which it is read: profiles, facts of files, the cluster, inputs.

use super::cluster_setting_flags::ServerSettings;
use super::input_flags::Inputs;
use super::loaded_batches::Loaded;
use super::report_unread::write_unread_facts;
use super::{documents_to_objects, files, live, profiles};
use crate::cli::Exit;
use crate::manifest::Document;
use crate::profile::{FabricProfile, Profile};
use crate::report::Unread;
use crate::snapshot::{Builder, Layer, Settings, Snapshot};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// Inputs and facts, ready for decisions. Facts that cannot be read have been reported; what else cannot be read is
/// reported with the batch that has it.
pub(in crate::cli) struct Prepared {
    pub(in crate::cli) loaded: Loaded,
    pub(in crate::cli) snapshot: Snapshot,
    /// The profile of `--profile`.
    pub(in crate::cli) profile: Option<Arc<Profile>>,
    /// Namespace of objects that name none.
    pub(in crate::cli) namespace: String,
    pub(in crate::cli) unread: Vec<Unread>,
}

/// What is known before any input is read: profiles and facts of files.
pub(in crate::cli) struct ProfilesAndFacts {
    bases: Vec<FabricProfile>,
    builder: Builder,
    problems: documents_to_objects::Problems,
}

impl ProfilesAndFacts {
    /// The same knowledge for other inputs. Its problems have been reported.
    pub(in crate::cli) fn clone_without_problems(&self) -> Self {
        let problems = documents_to_objects::Problems::default();
        Self { bases: self.bases.clone(), builder: self.builder.clone(), problems }
    }
}

/// Reads everything. `Err` with the exit code where nothing can be decided; the reason has been reported.
/// `operator_namespaces`: those whose objects describe the cluster; all without.
pub(in crate::cli) fn read_inputs_and_facts(
    arguments: &Inputs,
    operator_namespaces: Option<BTreeSet<String>>,
    err: &mut dyn Write,
) -> io::Result<Result<Prepared, Exit>> {
    match read_profiles_and_fact_files(arguments, operator_namespaces, err)? {
        Ok(given) => read_inputs_with_given(arguments, given, err),
        Err(exit) => Ok(Err(exit)),
    }
}

/// Reads the profiles and the facts of files.
pub(in crate::cli) fn read_profiles_and_fact_files(
    arguments: &Inputs,
    operator_namespaces: Option<BTreeSet<String>>,
    err: &mut dyn Write,
) -> io::Result<Result<ProfilesAndFacts, Exit>> {
    let bases = match profiles::built_in_profiles() {
        Ok(bases) => bases,
        Err(error) => {
            writeln!(err, "error: a compiled-in profile cannot be read: {error}")?;
            return Ok(Err(Exit::Internal));
        }
    };
    let own = arguments.namespace.as_deref().unwrap_or("default");
    let mut builder = Builder::new(bases.clone());
    builder.replace_settings(Settings { operator_namespaces, ..arguments.choice.settings() });
    let mut problems = documents_to_objects::Problems::default();
    if let Some(path) = &arguments.profiles {
        profiles::add_all_profiles_or_none(path, &bases, &mut builder, &mut problems.errors);
        // What the pods would get without these profiles says nothing about the site.
        if !problems.errors.is_empty() {
            write_unread_facts(&problems, err)?;
            return Ok(Err(Exit::Usage));
        }
    }
    for path in &arguments.cluster {
        let mut visit = |documents: &[Document]| {
            documents_to_objects::add_facts_to_builder(
                documents,
                Layer::Cluster,
                own,
                &mut builder,
                &mut problems,
            );
        };
        let (_, cluster) = files::read(std::slice::from_ref(path), false, &mut visit);
        problems.errors.extend(cluster.unread);
    }
    Ok(Ok(ProfilesAndFacts { bases, builder, problems }))
}

/// Reads the inputs, and the cluster where it is live.
pub(in crate::cli) fn read_inputs_with_given(
    arguments: &Inputs,
    given: ProfilesAndFacts,
    err: &mut dyn Write,
) -> io::Result<Result<Prepared, Exit>> {
    let ProfilesAndFacts { bases, mut builder, mut problems } = given;
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
        match live::add_facts_of_live_cluster(kubeconfig, context, builder, named, err)? {
            Ok(seen) => (builder, running, forbidden) = (seen.builder, seen.objects, seen.unread),
            Err(exit) => return Ok(Err(exit)),
        }
    }
    let mut visit = |documents: &[Document]| {
        documents_to_objects::add_facts_to_builder(documents, Layer::Input, own, &mut builder, &mut problems);
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
    write_unread_facts(&problems, err)?;
    // Warnings report these already.
    let unread = problems.errors.into_iter().map(|(u, _)| u).chain(forbidden).collect();
    let namespace = own.to_owned();
    Ok(Ok(Prepared { loaded, snapshot, profile, namespace, unread }))
}

/// Profiles and cluster facts in files, for `serve`. `None`, with the reasons on `err`, when a
/// profile or a file cannot be read: half a set is worse than none. Other unreadable objects are ignored
/// with a warning, as they would be in a live cluster.
pub(in crate::cli) fn facts_from_files(
    profiles: Option<&std::path::Path>,
    cluster: &[PathBuf],
    settings: &ServerSettings<'_>,
    live: bool,
    err: &mut dyn Write,
) -> io::Result<Option<(Builder, Snapshot)>> {
    let bases = match profiles::built_in_profiles() {
        Ok(bases) => bases,
        Err(error) => {
            writeln!(err, "error: a compiled-in profile cannot be read: {error}")?;
            return Ok(None);
        }
    };
    let mut builder = Builder::new(bases.clone());
    builder.replace_settings(settings.settings());
    let mut problems = documents_to_objects::Problems::default();
    if let Some(path) = profiles {
        profiles::add_all_profiles_or_none(path, &bases, &mut builder, &mut problems.errors);
    }
    for path in cluster {
        let mut visit = |documents: &[Document]| {
            documents_to_objects::add_facts_to_builder(
                documents,
                Layer::Cluster,
                "default",
                &mut builder,
                &mut problems,
            );
        };
        let (_, cluster) = files::read(std::slice::from_ref(path), false, &mut visit);
        problems.errors.extend(cluster.unread);
    }
    write_unread_facts(&problems, err)?;
    let snapshot = builder.build();
    for (kind, ignored) in snapshot.ignored_objects_by_kind() {
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
