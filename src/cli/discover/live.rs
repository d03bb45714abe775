//! `discover --live`: every kind that describes a fabric, page by page.

use super::read_objects_and_failures::ReadObjects;
use crate::cli::Exit;
use crate::cli::input;
use crate::cli::lines_on_stderr::{write_error, write_note, write_warning};
use crate::cluster::PageSize;
use crate::cluster::api_client::{self, ClientAndAddress};
use crate::cluster::api_discovery_of_served_kinds::ServedKinds;
use crate::cluster::list_any_kind::{self, DEADLINE, ListError, ListEvent, Listing};
use crate::cluster::watched_kinds::WATCHED;
use crate::discover::{FURTHER_KINDS, Sources};
use crate::text::escaped_and_cut;
use serde::Deserialize;
use std::io::{self, Write};
use std::path::Path;

/// A kind to list.
struct Listed {
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    path: String,
}

fn kinds() -> Vec<Listed> {
    let watched = WATCHED.iter().filter(|watched| Sources::is_discovery_fact(watched.kind));
    let watched =
        watched.map(|of| Listed { group: of.group, version: of.version, kind: of.name(), path: of.path() });
    let further = FURTHER_KINDS.iter().map(|(group, version, plural, kind)| Listed {
        group,
        version,
        kind,
        path: format!("/apis/{group}/{version}/{plural}"),
    });
    watched.chain(further).collect()
}

fn listing(path: String) -> Listing {
    Listing { path, query: String::new(), metadata_only: false, size: PageSize::DEFAULT, deadline: DEADLINE }
}

#[derive(Default, Deserialize)]
struct Named {
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
struct Metadata {
    #[serde(default)]
    name: String,
    #[serde(default)]
    namespace: Option<String>,
}

/// Reads the cluster. `Err` with the exit code where it cannot be reached; the reason has been reported.
pub(super) fn read_objects_of_live_cluster(
    given: Option<&Path>,
    context: Option<&str>,
    err: &mut dyn Write,
) -> io::Result<Result<ReadObjects, Exit>> {
    let path = input::facts_of_live_cluster::find_kubeconfig(given);
    if path.is_none() && !api_client::is_in_pod_with_service_account() {
        write_error(
            err,
            format_args!("--live needs a kubeconfig file: set --kubeconfig FILE or variable KUBECONFIG"),
        )?;
        return Ok(Err(Exit::Usage));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let ClientAndAddress { client, address } =
            match api_client::create_client_and_address(path.as_deref(), context).await {
                Ok(cluster) => cluster,
                Err(error) => {
                    write_error(err, format_args!("--live: {error}"))?;
                    return Ok(Err(Exit::of_client(&error)));
                }
            };
        let served = match ServedKinds::read(&client, list_any_kind::DEADLINE).await {
            Ok(served) => served,
            Err(error) => {
                write_error(err, format_args!("--live: {address}: {error}"))?;
                return Ok(Err(Exit::Internal));
            }
        };
        let mut read =
            ReadObjects { sources: Sources::complete_for_live_cluster(), unreadable: false, failed: false };
        for kind in kinds() {
            // Without this question, an account without rights would be refused kinds that do not exist.
            if !kind.group.is_empty() && served.preferred_version_of_kind(kind.group, kind.kind).is_none() {
                continue;
            }
            if let Some(others) = served.only_other_versions(kind.group, kind.version, kind.kind) {
                let why = format!("the API server serves {}, not {}", others.join(", "), kind.version);
                read.sources.add_unread_kind(kind.kind, &why);
                read.unreadable = true;
                continue;
            }
            read_one_kind(&client, &kind, &mut read, err).await?;
        }
        read_device_plugin_config_maps(&client, &mut read, err).await?;
        Ok(Ok(read))
    })
}

/// ConfigMaps of device plugins that no operator configures. Only the namespaces of operators are read, and an account
/// without this right still gets the rest.
async fn read_device_plugin_config_maps(
    client: &kube::Client,
    read: &mut ReadObjects,
    err: &mut dyn Write,
) -> io::Result<()> {
    for namespace in input::OPERATOR_NAMESPACES {
        let path = format!("/api/v1/namespaces/{namespace}/configmaps");
        let listing = listing(path);
        let sources = &mut read.sources;
        let result = list_any_kind::read_list_page_by_page(client, &listing, &mut |event| {
            let ListEvent::Page(items, _) = event else { return };
            for item in items {
                // Most ConfigMaps configure something else.
                let _ = sources.add("", "ConfigMap", item.get(), namespace);
            }
        })
        .await;
        if let Err(ListError::Forbidden(why) | ListError::Failed(why)) = result {
            write_note(
                err,
                format_args!(
                    "ConfigMaps of namespace {namespace} could not be read: {}",
                    escaped_and_cut(&why, 300)
                ),
            )?;
        }
    }
    Ok(())
}

/// Reads one kind. A kind that the API server does not serve has no objects.
async fn read_one_kind(
    client: &kube::Client,
    kind: &Listed,
    read: &mut ReadObjects,
    err: &mut dyn Write,
) -> io::Result<()> {
    let listing = listing(kind.path.clone());
    let mut broken = Vec::new();
    let sources = &mut read.sources;
    let result = list_any_kind::read_list_page_by_page(client, &listing, &mut |event| {
        // Objects of a list that begins again replace those that were read before.
        let ListEvent::Page(items, _) = event else { return };
        for item in items {
            let head: Named = serde_json::from_str(item.get()).unwrap_or_default();
            let namespace = head.metadata.namespace.as_deref().unwrap_or("default");
            if let Err(error) = sources.add(kind.group, kind.kind, item.get(), namespace) {
                broken.push(format!("{} {}: {error}", kind.kind, escaped_and_cut(&head.metadata.name, 253)));
            }
        }
    })
    .await;
    for message in &broken {
        write_warning(err, format_args!("{}; the object is ignored", escaped_and_cut(message, 400)))?;
    }
    read.unreadable |= !broken.is_empty();
    match result {
        Ok(()) | Err(ListError::Absent) => {}
        Err(ListError::Forbidden(why)) => {
            read.sources.add_unread_kind(kind.kind, &format!("no permission ({why})"));
            read.unreadable = true;
        }
        Err(ListError::Failed(why)) => {
            read.sources.add_unread_kind(kind.kind, &why);
            read.failed = true;
        }
    }
    Ok(())
}
