//! `--live`: facts from a cluster, read once.

use super::errors_of_a_file::unreadable;
use crate::cli::Exit;
use crate::cli::lines_on_stderr::{write_error, write_warning};
use crate::cluster::api_client::{self, ClientAndAddress};
use crate::cluster::api_discovery_of_served_kinds::{self, ServedKinds};
use crate::cluster::list_any_kind::{self, DEADLINE, ListError, ListEvent, Listing};
use crate::cluster::{PageSize, read_all_or_fail, read_pod_as_json};
use crate::kubernetes_version::{OLDEST, Version};
use crate::report::UnreadInput;
use crate::snapshot::Builder;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The kubeconfig that kubectl would use: the flag, the first file of `KUBECONFIG`, the one at home.
pub(in crate::cli) fn find_kubeconfig(given: Option<&Path>) -> Option<PathBuf> {
    if let Some(path) = given {
        return Some(path.to_path_buf());
    }
    let listed = std::env::var_os("KUBECONFIG").filter(|v| !v.is_empty());
    if let Some(first) = listed.as_deref().and_then(|list| std::env::split_paths(list).next()) {
        return Some(first);
    }
    let home = Path::new(&std::env::var_os("HOME")?).join(".kube/config");
    home.exists().then_some(home)
}

/// Objects that are read beside the facts, as JSON texts.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) enum ObjectsToReadToo<'a> {
    /// Pods of a namespace, by their names.
    Pods(&'a str, &'a [String]),
    /// Every FabricProfile, those that cannot be used included.
    Profiles,
}

/// What was read.
pub(in crate::cli) struct FactsAndObjects {
    /// The facts that were known before, and those of the cluster.
    pub(in crate::cli) builder: Builder,
    /// The other objects.
    pub(in crate::cli) objects: Vec<String>,
    /// Kinds that may not be read. Without them the result is partial.
    pub(in crate::cli) unread: Vec<UnreadInput>,
}

/// Adds the facts of the cluster, and reads other objects. `Err` with the exit code, and the reason on
/// `err`, where no cluster is named or the cluster cannot be reached.
pub(in crate::cli) fn read_facts_and_objects_of_cluster(
    given: Option<&Path>,
    context: Option<&str>,
    builder: Builder,
    also: ObjectsToReadToo<'_>,
    err: &mut dyn Write,
) -> io::Result<Result<FactsAndObjects, Exit>> {
    let path = find_kubeconfig(given);
    if path.is_none() && !api_client::is_in_pod_with_service_account() {
        write_error(
            err,
            format_args!("--live needs a kubeconfig file: set --kubeconfig FILE or variable KUBECONFIG"),
        )?;
        return Ok(Err(Exit::Usage));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let seen = runtime.block_on(async {
        let ClientAndAddress { client, address } =
            api_client::create_client_and_address(path.as_deref(), context)
                .await
                .map_err(|error| (Exit::of_client(&error), error.to_string()))?;
        let failed = |message: String| (Exit::Internal, format!("{address}: {message}"));
        let mut objects = Vec::new();
        match also {
            ObjectsToReadToo::Pods(namespace, names) => {
                for name in names {
                    objects.push(
                        read_pod_as_json(&client, namespace, name)
                            .await
                            .map_err(|e| failed(e.to_string()))?,
                    );
                }
            }
            ObjectsToReadToo::Profiles => {
                objects = read_profiles_of_cluster(&client).await.map_err(failed)?
            }
        }
        let mut seen = read_all_or_fail(&client, builder).await.map_err(|e| failed(e.to_string()))?;
        // Without an answer, each kind may exist.
        if !seen.forbidden.is_empty()
            && let Ok(served) = ServedKinds::read(&client, DEADLINE).await
        {
            seen.drop_forbidden_kinds_not_served(&served);
        }
        // The facts are read, so a version that is not known changes nothing.
        let version = api_discovery_of_served_kinds::read_api_server_version(&client, DEADLINE).await.ok();
        Ok::<_, (Exit, String)>((seen, objects, version))
    });
    match seen {
        Err((exit, message)) => {
            write_error(err, format_args!("--live: {message}"))?;
            Ok(Err(exit))
        }
        Ok((seen, objects, version)) => {
            if let Some(warning) = version.and_then(warning_if_server_is_too_old) {
                writeln!(err, "{warning}")?;
            }
            let mut unread = Vec::new();
            for (kind, why) in &seen.forbidden {
                let message =
                    format!("no permission to read {kind}, so objects of this kind are unknown ({why})");
                write_warning(err, format_args!("--live: {message}"))?;
                unread.push(unreadable("--live", &message));
            }
            Ok(Ok(FactsAndObjects { builder: seen.builder, objects, unread }))
        }
    }
}

/// The warning about an API server that is older than those that are supported.
pub(in crate::cli) fn warning_if_server_is_too_old(version: Version) -> Option<String> {
    (!version.is_supported()).then(|| {
        format!("warning: the API server is Kubernetes {version}; the oldest supported version is {OLDEST}")
    })
}

/// The JSON texts of all FabricProfiles; none without their CRD, or where they may not be read.
async fn read_profiles_of_cluster(client: &kube::Client) -> Result<Vec<String>, String> {
    let path = "/apis/fabric-admission.dev/v1alpha1/fabricprofiles".to_owned();
    let listing = Listing {
        path,
        query: String::new(),
        metadata_only: false,
        size: PageSize::DEFAULT,
        deadline: DEADLINE,
    };
    let mut found = Vec::new();
    let mut on = |event: ListEvent<'_>| match event {
        ListEvent::Restarted => found.clear(),
        ListEvent::Waiting(_) => {}
        ListEvent::Page(items, _) => found.extend(items.iter().map(|item| item.get().to_owned())),
    };
    match list_any_kind::read_list_page_by_page(client, &listing, &mut on).await {
        // The list of facts reports the missing right.
        Ok(()) | Err(ListError::Absent | ListError::Forbidden(_)) => Ok(found),
        Err(error) => Err(format!("FabricProfile: {error}")),
    }
}
