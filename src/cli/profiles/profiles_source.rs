//! Profiles, and the facts that they are compared with.

use super::given_profile::GivenProfile;
use crate::cli::Exit;
use crate::cli::input::documents_to_objects::{self, ObjectSkippedOrUnread};
use crate::cli::input::facts_of_live_cluster::{ObjectsToReadToo, read_facts_and_objects_of_cluster};
use crate::cli::input::{self, ClusterSettingFlags, Loaded, read_and_find_profiles};
use crate::cli::lines_on_stderr::write_error;
use crate::manifest::{self, Document, DocumentOrError};
use crate::profile::FabricProfile;
use crate::profile::built_in_bases::BASES;
use crate::report::UnreadInput;
use crate::snapshot::{Builder, Layer, Settings, Snapshot};
use std::io::{self, Write};
use std::path::PathBuf;

/// Flags that name a source of profiles.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ProfileSourceFlags {
    /// File or directory with FabricProfiles
    #[arg(long, value_name = "PATH")]
    pub(super) profiles: Option<PathBuf>,
    /// File or directory with Kubernetes objects of a cluster, such as FabricProfiles, Nodes and
    /// NetworkAttachmentDefinitions; repeatable
    #[arg(long, value_name = "PATH")]
    pub(super) cluster: Vec<PathBuf>,
    /// Read a cluster through its API server
    #[arg(long)]
    pub(super) live: bool,
    /// Context in the kubeconfig, for --live; default: the current context
    #[arg(long, value_name = "NAME", requires = "live")]
    pub(super) context: Option<String>,
    /// Kubeconfig file, for --live; default: the first file in environment variable KUBECONFIG, else ~/.kube/config
    #[arg(long, value_name = "FILE", requires = "live")]
    pub(super) kubeconfig: Option<PathBuf>,
    #[command(flatten)]
    pub(super) choice: ClusterSettingFlags,
}

/// What a source has.
pub(super) struct LoadedSource {
    pub(super) snapshot: Snapshot,
    pub(super) bases: Vec<FabricProfile>,
    pub(super) unread: Vec<UnreadInput>,
    files: Vec<Loaded>,
    live: Vec<String>,
    /// The files of the bases.
    built_in: Vec<Document>,
}

impl ProfileSourceFlags {
    /// Whether any flag names a place to read.
    pub(super) fn is_given(&self) -> bool {
        self.live || self.profiles.is_some() || !self.cluster.is_empty()
    }

    /// Reads everything. `Err` with the exit code where nothing is known; the reason has been reported. A profile that
    /// cannot be used does not keep the others from being shown.
    pub(super) fn read_profiles_and_facts(
        &self,
        err: &mut dyn Write,
    ) -> io::Result<Result<LoadedSource, Exit>> {
        let bases = match read_and_find_profiles::built_in_profiles() {
            Ok(bases) => bases,
            Err(error) => {
                write_error(err, format_args!("a compiled-in profile cannot be read: {error}"))?;
                return Ok(Err(Exit::Internal));
            }
        };
        let mut builder = Builder::new(bases.clone());
        builder.replace_settings(Settings { operator_namespaces: None, ..self.choice.settings() });
        let mut problems = documents_to_objects::FactProblems::default();
        let (mut files, mut errors) = (Vec::new(), Vec::new());
        for path in self.profiles.iter().chain(&self.cluster) {
            let mut visit = |documents: &[Document]| {
                documents_to_objects::add_facts_to_builder(
                    documents,
                    Layer::Cluster,
                    "default",
                    &mut builder,
                    &mut problems,
                );
            };
            let (read, unreadable) = input::read_files_and_directories::read_inputs_and_visit_all(
                std::slice::from_ref(path),
                false,
                &mut visit,
            );
            files.push(read);
            errors.extend(unreadable.unread);
        }
        // Only profiles are errors here; the result shows their problems.
        problems.errors = errors;
        let (mut live, mut forbidden) = (Vec::new(), Vec::new());
        if self.live {
            match read_facts_and_objects_of_cluster(
                self.kubeconfig.as_deref(),
                self.context.as_deref(),
                builder,
                ObjectsToReadToo::Profiles,
                err,
            )? {
                Ok(seen) => {
                    (builder, live) = (seen.builder, seen.objects);
                    forbidden = seen.unread;
                }
                Err(exit) => return Ok(Err(exit)),
            }
        }
        input::write_fact_warnings_and_input_errors(&problems, err)?;
        let unread = problems.errors.into_iter().map(|(unread, _)| unread).chain(forbidden).collect();
        let built_in = BASES.iter().flat_map(|(name, text)| {
            let items = manifest::read_documents_of_file(&format!("policies/{name}.yaml"), text.as_bytes());
            items.into_iter().filter_map(|item| match item {
                DocumentOrError::Document(document) => Some(document),
                DocumentOrError::Error(_) | DocumentOrError::Empty { .. } => None,
            })
        });
        let built_in = built_in.collect();
        Ok(Ok(LoadedSource { snapshot: builder.build(), bases, unread, files, live, built_in }))
    }
}

impl LoadedSource {
    /// Shows every FabricProfile of the source, in the order in which they were read.
    pub(super) fn visit_each_profile(&self, show: &mut dyn FnMut(GivenProfile<'_>)) {
        for file in self.files.iter().flat_map(Loaded::batches).flat_map(|batch| batch.files) {
            for found in file.documents.iter().flat_map(documents_to_objects::objects_in) {
                if let ObjectSkippedOrUnread::Object(object) = found
                    && is_profile(&object)
                {
                    show(GivenProfile::File(&object));
                }
            }
        }
        for json in &self.live {
            show(GivenProfile::Live(json));
        }
    }

    /// Shows every base.
    pub(super) fn visit_each_base(&self, show: &mut dyn FnMut(GivenProfile<'_>)) {
        for (document, (name, _)) in self.built_in.iter().zip(BASES) {
            for found in documents_to_objects::objects_in(document) {
                if let ObjectSkippedOrUnread::Object(object) = found {
                    show(GivenProfile::BuiltIn(name, &object));
                }
            }
        }
    }
}

fn is_profile(object: &documents_to_objects::InputObject<'_>) -> bool {
    object.group() == "fabric-admission.dev" && object.kind == "FabricProfile"
}
