//! `--live`: facts from a cluster, read once.

use super::errors_of_a_file::unreadable;
use crate::cli::Exit;
use crate::cluster::api_client::{self, Cluster};
use crate::cluster::list_any_kind::{self, DEADLINE, Event, ListError, Listing};
use crate::cluster::which_kinds_are_served_for_commands::{self, Served};
use crate::cluster::{PageSize, pod, read_all_or_fail};
use crate::kubernetes_version::{OLDEST, Version};
use crate::report::Unread;
use crate::snapshot::Builder;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The kubeconfig that kubectl would use: the flag, the first file of `KUBECONFIG`, the one at home.
pub(in crate::cli) fn kubeconfig(given: Option<&Path>) -> Option<PathBuf> {
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
pub(in crate::cli) enum Also<'a> {
    /// Pods of a namespace, by their names.
    Pods(&'a str, &'a [String]),
    /// Every FabricProfile, those that cannot be used included.
    Profiles,
}

/// What was read.
pub(in crate::cli) struct Looked {
    /// The facts that were known before, and those of the cluster.
    pub(in crate::cli) builder: Builder,
    /// The other objects.
    pub(in crate::cli) objects: Vec<String>,
    /// Kinds that may not be read. Without them the result is partial.
    pub(in crate::cli) unread: Vec<Unread>,
}

/// Adds the facts of the cluster, and reads other objects. `Err` with the exit code, and the reason on
/// `err`, where no cluster is named or the cluster cannot be reached.
pub(in crate::cli) fn add_facts_of_live_cluster(
    given: Option<&Path>,
    context: Option<&str>,
    builder: Builder,
    also: Also<'_>,
    err: &mut dyn Write,
) -> io::Result<Result<Looked, Exit>> {
    let path = kubeconfig(given);
    if path.is_none() && !api_client::in_cluster() {
        writeln!(err, "error: --live needs a kubeconfig file: set --kubeconfig FILE or variable KUBECONFIG")?;
        return Ok(Err(Exit::Usage));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let seen = runtime.block_on(async {
        let Cluster { client, address } = api_client::cluster(path.as_deref(), context)
            .await
            .map_err(|error| (Exit::of_client(&error), error.to_string()))?;
        let failed = |message: String| (Exit::Internal, format!("{address}: {message}"));
        let mut objects = Vec::new();
        match also {
            Also::Pods(namespace, names) => {
                for name in names {
                    objects.push(pod(&client, namespace, name).await.map_err(|e| failed(e.to_string()))?);
                }
            }
            Also::Profiles => objects = profiles(&client).await.map_err(failed)?,
        }
        let mut seen = read_all_or_fail(&client, builder).await.map_err(|e| failed(e.to_string()))?;
        // Without an answer, each kind may exist.
        if !seen.forbidden.is_empty()
            && let Ok(served) = Served::read(&client, DEADLINE).await
        {
            seen.drop_forbidden_kinds_not_served(&served);
        }
        // The facts are read, so a version that is not known changes nothing.
        let version = which_kinds_are_served_for_commands::version(&client, DEADLINE).await.ok();
        Ok::<_, (Exit, String)>((seen, objects, version))
    });
    match seen {
        Err((exit, message)) => {
            writeln!(err, "error: --live: {message}")?;
            Ok(Err(exit))
        }
        Ok((seen, objects, version)) => {
            if let Some(warning) = version.and_then(old_server) {
                writeln!(err, "{warning}")?;
            }
            let mut unread = Vec::new();
            for (kind, why) in &seen.forbidden {
                let message =
                    format!("no permission to read {kind}, so objects of this kind are unknown ({why})");
                writeln!(err, "warning: --live: {message}")?;
                unread.push(unreadable("--live", &message));
            }
            Ok(Ok(Looked { builder: seen.builder, objects, unread }))
        }
    }
}

/// The warning about an API server that is older than those that are supported.
pub(in crate::cli) fn old_server(version: Version) -> Option<String> {
    (!version.is_supported()).then(|| {
        format!("warning: the API server is Kubernetes {version}; the oldest supported version is {OLDEST}")
    })
}

/// The JSON texts of all FabricProfiles; none without their CRD, or where they may not be read.
async fn profiles(client: &kube::Client) -> Result<Vec<String>, String> {
    let path = "/apis/fabric-admission.dev/v1alpha1/fabricprofiles".to_owned();
    let listing = Listing {
        path,
        query: String::new(),
        metadata_only: false,
        size: PageSize::DEFAULT,
        deadline: DEADLINE,
    };
    let mut found = Vec::new();
    let mut on = |event: Event<'_>| match event {
        Event::Restarted => found.clear(),
        Event::Waiting(_) => {}
        Event::Page(items, _) => found.extend(items.iter().map(|item| item.get().to_owned())),
    };
    match list_any_kind::read(client, &listing, &mut on).await {
        // The list of facts reports the missing right.
        Ok(()) | Err(ListError::Absent | ListError::Forbidden(_)) => Ok(found),
        Err(error) => Err(format!("FabricProfile: {error}")),
    }
}
