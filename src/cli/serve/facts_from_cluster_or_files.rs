//! Where the server has its facts from: the API server, or files.

use super::arguments::{Arguments, Mutate};
use crate::cli::flag_values::replica_identity;
use crate::cli::input::{ServerSettings, read_facts_for_server, read_files_and_directories};
use crate::cluster::{self, WatchTimings};
use crate::server::{FactFileSource, FileCheck, Live, StatusWriter};
use crate::snapshot::Builder;
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use tokio::runtime::Runtime;

/// Whether the facts come from the API server, beside those of files.
pub(super) fn do_facts_come_from_api_server(arguments: &Arguments) -> bool {
    arguments.kubeconfig.is_some()
        || (arguments.cluster.is_empty() && cluster::api_client::is_in_pod_with_service_account())
}

pub(super) fn start_runtime(workers: usize) -> io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build()
}

/// Connects to the API server. Watches have a thread of their own, so that a large list does not delay requests.
pub(super) fn start_watch_runtime_and_client(
    arguments: &Arguments,
    builder: Builder,
) -> Result<(Runtime, Live), Box<dyn std::error::Error>> {
    // A kind without changes causes one contact with the API server per watch.
    if arguments.stale_after < 2.0 * arguments.watch_timeout {
        let (stale, watch) = (arguments.stale_after, arguments.watch_timeout);
        return Err(format!(
            "--stale-after {stale} is less than twice --watch-timeout {watch}: objects without changes would count as old \
             (FAB813) between two watches; set --stale-after to at least {}",
            2.0 * watch
        )
        .into());
    }
    let watching = start_runtime(1)?;
    let client =
        watching.block_on(cluster::api_client::create_client(arguments.kubeconfig.as_deref(), None))?;
    let timings = WatchTimings {
        longest_pause: Duration::from_secs_f64(arguments.watch_retry.max(0.05)),
        watch: Duration::from_secs_f64(arguments.watch_timeout.max(1.0)),
        stale_after: Duration::from_secs_f64(arguments.stale_after.max(1.0)),
        ..WatchTimings::DEFAULT
    };
    let status_writer = arguments.profile_status.then(|| status_writer(&client));
    let live = Live { client, builder, timings, runtime: watching.handle().clone(), status_writer };
    Ok((watching, live))
}

fn status_writer(client: &kube::Client) -> StatusWriter {
    StatusWriter { namespace: client.default_namespace().to_owned(), identity: replica_identity() }
}

/// Checks the files of profiles and facts for changes; `None` without files.
pub(super) fn fingerprint_files_for_later_checks(arguments: &Arguments) -> Option<FactFileSource> {
    let (profiles, cluster) = (arguments.profiles.clone(), arguments.cluster.clone());
    let (choice, withhold_changes) = (arguments.choice.clone(), arguments.mutate == Mutate::Off);
    let operators = arguments.operator_namespaces.clone();
    let paths: Vec<PathBuf> = profiles.iter().chain(&cluster).cloned().collect();
    if paths.is_empty() {
        return None;
    }
    let mut known = read_files_and_directories::fingerprint_of_names_and_contents(&paths);
    let look = move || {
        let found = read_files_and_directories::fingerprint_of_names_and_contents(&paths);
        if found == known {
            return FileCheck::Same;
        }
        let mut messages = Vec::new();
        let settings = ServerSettings { choice: &choice, withhold_changes, operator_namespaces: &operators };
        let read = read_facts_for_server(profiles.as_deref(), &cluster, &settings, false, &mut messages);
        // Only now: a read that panics is tried again.
        known = found;
        match read {
            Ok(Some((_, snapshot))) => FileCheck::New(Box::new(snapshot)),
            Ok(None) => FileCheck::Failed(String::from_utf8_lossy(&messages).trim_end().to_owned()),
            Err(error) => FileCheck::Failed(error.to_string()),
        }
    };
    Some(FactFileSource {
        every: Duration::from_secs_f64(arguments.facts_poll.max(0.05)),
        look: Box::new(look),
    })
}
