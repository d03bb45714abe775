//! Everything that decisions need, in the order in which it is read: profiles, facts of files, the cluster, inputs.

use super::cluster_setting_flags::ServerSettings;
use super::input_flags::InputFlags;
use super::loaded_batches::Loaded;
use super::report_unread::write_fact_warnings_and_input_errors;
use super::{
    documents_to_objects, facts_of_live_cluster, read_and_find_profiles, read_files_and_directories,
};
use crate::cli::Exit;
use crate::cli::lines_on_stderr::{write_error, write_warning};
use crate::decision_limits::RunBudget;
use crate::manifest::Document;
use crate::profile::{FabricProfile, Profile};
use crate::report::UnreadInput;
use crate::snapshot::{Builder, Layer, Settings, Snapshot};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Inputs and facts, ready for decisions. Facts that cannot be read have been reported; what else cannot be read is
/// reported with the batch that has it.
pub(in crate::cli) struct InputsAndSnapshot {
    pub(in crate::cli) loaded: Loaded,
    pub(in crate::cli) snapshot: Snapshot,
    /// The profile of `--profile`.
    pub(in crate::cli) profile: Option<Arc<Profile>>,
    /// Namespace of objects that name none.
    pub(in crate::cli) namespace: String,
    pub(in crate::cli) unread: Vec<UnreadInput>,
    /// Whether the inputs have facts.
    has_facts: bool,
    /// Facts of files, beside the inputs, that were read for these inputs only (count).
    facts_of_files: usize,
    /// Documents of the files with facts, beside the inputs, as JSON (bytes).
    pub(in crate::cli) bytes_of_fact_documents: usize,
}

/// What is known before any input is read: profiles and facts of files.
pub(in crate::cli) struct ProfilesAndFacts {
    bases: Vec<FabricProfile>,
    builder: Arc<Builder>,
    problems: documents_to_objects::FactProblems,
    /// The Snapshot of inputs without facts, where many inputs are decided one by one.
    built: Option<Snapshot>,
}

/// Work of building a Snapshot, for each fact in it (units of [`RunBudget`]). We measured 2 to 3 microseconds.
const WORK_OF_FACT: usize = 30;

/// Work of building a Snapshot with these facts of files: each profile is compared with each kind of nodes, which takes about 50
/// nanoseconds. What the inputs add is in proportion to their length.
fn work_of_building(snapshot: &Snapshot, facts: usize) -> usize {
    facts.saturating_mul(WORK_OF_FACT.saturating_add(snapshot.profiles().count()))
}

impl InputsAndSnapshot {
    /// The work that its Snapshot took, if no other inputs share it (units of [`RunBudget`]).
    pub(in crate::cli) fn work_of_own_snapshot(&self) -> usize {
        work_of_building(&self.snapshot, self.facts_of_files)
    }
}

impl ProfilesAndFacts {
    /// The same knowledge for many inputs, each of which is decided without the others. `work` grows by what the files may
    /// take. Problems stay to be reported.
    pub(in crate::cli) fn for_many_inputs(&mut self, work: &RunBudget) -> SharedFacts {
        let built = Arc::make_mut(&mut self.builder).build();
        self.built = Some(built.clone());
        work.add_input(self.problems.bytes);
        SharedFacts {
            bases: self.bases.clone(),
            builder: Arc::clone(&self.builder),
            built,
            facts: self.problems.facts,
            bytes_as_json: self.problems.bytes_as_json,
        }
    }
}

/// What many inputs share.
pub(in crate::cli) struct SharedFacts {
    bases: Vec<FabricProfile>,
    builder: Arc<Builder>,
    built: Snapshot,
    facts: usize,
    bytes_as_json: usize,
}

impl SharedFacts {
    /// For one of the inputs.
    pub(in crate::cli) fn for_input(&self) -> ProfilesAndFacts {
        let mut problems = documents_to_objects::FactProblems::default();
        problems.bytes_as_json = self.bytes_as_json;
        ProfilesAndFacts {
            bases: self.bases.clone(),
            builder: Arc::clone(&self.builder),
            problems,
            built: Some(self.built.clone()),
        }
    }

    /// Takes the work for an input from the budget of all inputs. Inputs with facts get a Snapshot of their own.
    pub(in crate::cli) fn spend_work_of_input(&self, input: &InputsAndSnapshot, work: &RunBudget) {
        if input.has_facts {
            work.spend(work_of_building(&input.snapshot, self.facts));
        }
    }
}

/// Reads everything. `Err` with the exit code where nothing can be decided; the reason has been reported.
/// `operator_namespaces`: those whose objects describe the cluster; all without.
pub(in crate::cli) fn read_inputs_and_facts(
    arguments: &InputFlags,
    operator_namespaces: Option<BTreeSet<String>>,
    err: &mut dyn Write,
) -> io::Result<Result<InputsAndSnapshot, Exit>> {
    match read_profiles_and_fact_files(arguments, operator_namespaces, err)? {
        Ok(given) => read_inputs_and_live_cluster(arguments, given, err),
        Err(exit) => Ok(Err(exit)),
    }
}

/// Reads the profiles and the facts of files.
pub(in crate::cli) fn read_profiles_and_fact_files(
    arguments: &InputFlags,
    operator_namespaces: Option<BTreeSet<String>>,
    err: &mut dyn Write,
) -> io::Result<Result<ProfilesAndFacts, Exit>> {
    let bases = match read_and_find_profiles::built_in_profiles() {
        Ok(bases) => bases,
        Err(error) => {
            write_error(err, format_args!("a compiled-in profile cannot be read: {error}"))?;
            return Ok(Err(Exit::Internal));
        }
    };
    let own = arguments.namespace.as_deref().unwrap_or("default");
    let mut builder = Builder::new(bases.clone());
    builder.replace_settings(Settings { operator_namespaces, ..arguments.choice.settings() });
    let mut problems = documents_to_objects::FactProblems::default();
    if let Some(path) = &arguments.profiles {
        read_and_find_profiles::add_all_profiles_or_none(path, &bases, &mut builder, &mut problems.errors);
        // What the pods would get without these profiles says nothing about the site.
        if !problems.errors.is_empty() {
            write_fact_warnings_and_input_errors(&problems, err)?;
            return Ok(Err(Exit::Usage));
        }
    }
    add_facts_of_cluster_files(&arguments.cluster, own, &mut builder, &mut problems);
    Ok(Ok(ProfilesAndFacts { bases, builder: Arc::new(builder), problems, built: None }))
}

/// Adds the facts in files that describe the cluster. `namespace`: that of objects that name none.
fn add_facts_of_cluster_files(
    paths: &[PathBuf],
    namespace: &str,
    builder: &mut Builder,
    problems: &mut documents_to_objects::FactProblems,
) {
    // A directory may be named beside one above it: each file is read once.
    let mut known = BTreeSet::new();
    let mut is_new = |file: &Path| known.insert(file.canonicalize().unwrap_or_else(|_| file.to_path_buf()));
    for path in paths {
        let mut visit = |documents: &[Document]| {
            documents_to_objects::add_facts_to_builder(
                documents,
                Layer::Cluster,
                namespace,
                builder,
                problems,
            );
        };
        let (_, cluster) = read_files_and_directories::read_new_inputs_and_visit_all(
            std::slice::from_ref(path),
            &mut is_new,
            &mut visit,
        );
        problems.errors.extend(cluster.unread);
    }
}

/// Reads the inputs, and the cluster where it is live.
pub(in crate::cli) fn read_inputs_and_live_cluster(
    arguments: &InputFlags,
    given: ProfilesAndFacts,
    err: &mut dyn Write,
) -> io::Result<Result<InputsAndSnapshot, Exit>> {
    let ProfilesAndFacts { bases, mut builder, mut problems, mut built } = given;
    let own = arguments.namespace.as_deref().unwrap_or("default");
    let (mut paths, mut pods, mut running) =
        (Cow::Borrowed(arguments.paths.as_slice()), Vec::new(), Vec::new());
    let mut forbidden = Vec::new();
    if arguments.live {
        let named = |path: &PathBuf| Some(path.to_str()?.strip_prefix("pod/")?.to_owned());
        pods.extend(paths.iter().filter_map(named));
        paths.to_mut().retain(|path| named(path).is_none());
        let (kubeconfig, context) = (arguments.kubeconfig.as_deref(), arguments.context.as_deref());
        let named = facts_of_live_cluster::ObjectsToReadToo::Pods(own, &pods);
        let known = Arc::unwrap_or_clone(builder);
        match facts_of_live_cluster::read_facts_and_objects_of_cluster(
            kubeconfig, context, known, named, err,
        )? {
            Ok(seen) => (builder, running, forbidden) = (Arc::new(seen.builder), seen.objects, seen.unread),
            Err(exit) => return Ok(Err(exit)),
        }
    }
    let (before, bytes_of_fact_documents) = (problems.facts, problems.bytes_as_json);
    let mut visit = |documents: &[Document]| {
        // The builder is copied for the first fact only.
        if built.is_none() || documents.iter().any(documents_to_objects::has_fact) {
            built = None;
            let builder = Arc::make_mut(&mut builder);
            documents_to_objects::add_facts_to_builder(documents, Layer::Input, own, builder, &mut problems);
        }
    };
    let running = pods.iter().zip(running).map(|(name, text)| (format!("pod/{name}"), text.into_bytes()));
    let loaded = read_files_and_directories::read_inputs_and_visit_facts(
        &paths,
        running,
        arguments.allow_empty,
        &mut visit,
    );
    let snapshot = built.unwrap_or_else(|| Arc::make_mut(&mut builder).build());
    if let Err(message) = arguments.choice.check_default_profile_exists(&snapshot) {
        write_error(err, format_args!("{message}"))?;
        return Ok(Err(Exit::Usage));
    }
    let profile = match &arguments.profile {
        None => None,
        Some(name) => match read_and_find_profiles::find_site_or_built_in_profile(name, &snapshot, &bases) {
            Ok(profile) => Some(profile),
            Err(message) => {
                write_error(err, format_args!("--profile: {message}"))?;
                return Ok(Err(Exit::Usage));
            }
        },
    };
    write_fact_warnings_and_input_errors(&problems, err)?;
    let has_facts = problems.facts > before;
    // Warnings report these already.
    let unread = problems.errors.into_iter().map(|(u, _)| u).chain(forbidden).collect();
    let namespace = own.to_owned();
    Ok(Ok(InputsAndSnapshot {
        loaded,
        snapshot,
        profile,
        namespace,
        unread,
        has_facts,
        facts_of_files: before,
        bytes_of_fact_documents,
    }))
}

/// Profiles and cluster facts in files, for `serve`. `None`, with the reasons on `err`, when a
/// profile or a file cannot be read: half a set is worse than none. Other unreadable objects are ignored
/// with a warning, as they would be in a live cluster.
pub(in crate::cli) fn read_facts_for_server(
    profiles: Option<&std::path::Path>,
    cluster: &[PathBuf],
    settings: &ServerSettings<'_>,
    live: bool,
    err: &mut dyn Write,
) -> io::Result<Option<(Builder, Snapshot)>> {
    let bases = match read_and_find_profiles::built_in_profiles() {
        Ok(bases) => bases,
        Err(error) => {
            write_error(err, format_args!("a compiled-in profile cannot be read: {error}"))?;
            return Ok(None);
        }
    };
    let mut builder = Builder::new(bases.clone());
    builder.replace_settings(settings.settings());
    let mut problems = documents_to_objects::FactProblems::default();
    if let Some(path) = profiles {
        read_and_find_profiles::add_all_profiles_or_none(path, &bases, &mut builder, &mut problems.errors);
    }
    add_facts_of_cluster_files(cluster, "default", &mut builder, &mut problems);
    write_fact_warnings_and_input_errors(&problems, err)?;
    let snapshot = builder.build();
    for (kind, ignored) in snapshot.ignored_objects_by_kind() {
        let objects = crate::text::count_with_noun(ignored, "object");
        write_warning(
            err,
            format_args!(
                "{kind}: {objects} ignored, because they are outside the namespaces of --operator-namespaces"
            ),
        )?;
    }
    // In a live cluster the default profile may be created later.
    if !live && let Err(message) = settings.choice.check_default_profile_exists(&snapshot) {
        write_error(err, format_args!("{message}"))?;
        return Ok(None);
    }
    Ok(problems.errors.is_empty().then_some((builder, snapshot)))
}
